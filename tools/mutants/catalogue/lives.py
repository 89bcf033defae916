"""Redrive, delete and the end of retention."""

from __future__ import annotations

from tools.mutants.killers import INGEST_API, REDRIVE_AND_DELETE, STILL_SO, TRANSITIONS
from tools.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        name="redrive from an old copy",
        module="domain.transitions.redrive",
        passage='Compare("generation", "=", generation)',
        replacement='Compare("generation", ">=", 0)',
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="redrive a job that has succeeded",
        module="domain.transitions.redrive",
        passage="(is_failed(), not_deleted(), ",
        replacement="(not_deleted(), ",
        killed_by=REDRIVE_AND_DELETE + "test_a_redrive_of_a_job_that_has_meanwhile_succeeded_changes_nothing",
    ),
    Mutant(
        name="redrive a deleted job",
        module="domain.transitions.redrive",
        passage="(is_failed(), not_deleted(), ",
        replacement="(is_failed(), ",
        killed_by=REDRIVE_AND_DELETE + "test_a_deleted_job_is_never_redriven",
    ),
    Mutant(
        name="redrive without fresh attempts",
        module="domain.transitions.redrive",
        passage='        Set("attempts", 0),\n',
        replacement="",
        killed_by=REDRIVE_AND_DELETE + "test_a_redrive_succeeds_after_the_fix",
    ),
    Mutant(
        name="redrive leaves the TTL",
        module="domain.transitions.redrive",
        passage='        Remove("expires_at"),\n',
        replacement="",
        killed_by=TRANSITIONS
        + "test_a_redrive_is_a_new_generation_with_fresh_attempts_and_deadline_and_an_audit_entry",
    ),
    Mutant(
        name="redrive tells the old failure as the new life's",
        module="domain.transitions.redrive",
        passage='        Remove("failure"),\n',
        replacement="",
        killed_by=REDRIVE_AND_DELETE + "test_each_life_tells_its_own_story",
    ),
    Mutant(
        name="redrive without owing a publish",
        module="domain.transitions.redrive",
        passage='        Add("outbox_seq", 1),\n',
        replacement="",
        killed_by=REDRIVE_AND_DELETE + "test_a_redrive_succeeds_after_the_fix",
    ),
    Mutant(
        name="redrive keeps the old deadline",
        module="domain.transitions.redrive",
        passage='        Set("deadline_at", deadline_at),\n',
        replacement="",
        killed_by=STILL_SO + "test_a_redrive_renews_the_deadline",
    ),
    Mutant(
        name="delete leaves the token",
        module="domain.transitions.deletion",
        passage='        Add("fencing_token", 1),\n',
        replacement="",
        killed_by=TRANSITIONS + "test_a_delete_moves_the_token_and_leaves_a_tombstone",
    ),
    Mutant(
        name="delete leaves an open job running",
        module="domain.transitions.deletion",
        passage='        Set("status", Status.FAILED.value),\n',
        replacement="",
        killed_by=REDRIVE_AND_DELETE + "test_a_late_worker_of_a_deleted_job_leaves_nothing_behind",
    ),
    Mutant(
        name="delete twice",
        module="domain.transitions.deletion",
        passage='transition("delete_terminal", moment, (is_terminal(), not_deleted()),',
        replacement='transition("delete_terminal", moment, (is_terminal(),),',
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="purge a row that is no tombstone",
        module="domain.transitions.deletion",
        passage='            Present("deleted_at"),\n',
        replacement="",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="eager second clean-up",
        module="domain.transitions.deletion",
        passage=("cleanup_at = moment.after(timings.function_timeout_seconds + timings.skew_seconds)"),
        replacement="cleanup_at = moment.now",
        killed_by=TRANSITIONS + "test_a_delete_moves_the_token_and_leaves_a_tombstone",
    ),
    Mutant(
        name="retire what was redriven meanwhile",
        module="domain.transitions.deletion",
        passage=(
            '            is_terminal(),\n            not_deleted(),\n            Compare("next_check_at"'
        ),
        replacement=('            not_deleted(),\n            Compare("next_check_at"'),
        killed_by=STILL_SO + "test_a_job_redriven_at_the_end_of_its_retention_is_not_retired",
    ),
    Mutant(
        name="delete the copy before the redrive",
        module="service.redrive_job",
        passage=("    job = redriver.jobs.get(letter.job_id)\n    if job is None:\n        outcome"),
        replacement=(
            "    redriver.dead_letters.delete(copy.receipt_handle)\n"
            "    job = redriver.jobs.get(letter.job_id)\n"
            "    if job is None:\n"
            "        outcome"
        ),
        killed_by=STILL_SO + "test_a_copy_outlives_the_death_of_its_operator",
    ),
    Mutant(
        name="retire before its time",
        module="domain.transitions.deletion",
        passage=('            Compare("next_check_at", "<=", moment.now),\n        ),\n        *_tombstone('),
        replacement="        ),\n        *_tombstone(",
        killed_by=TRANSITIONS + "test_an_end_is_for_the_check_that_was_seen_and_not_before_its_time",
    ),
    Mutant(
        name="purge before its time",
        module="domain.transitions.deletion",
        passage=('            Compare("next_check_at", "<=", moment.now),\n        ),\n        changes=(),'),
        replacement="        ),\n        changes=(),",
        killed_by=TRANSITIONS + "test_an_end_is_for_the_check_that_was_seen_and_not_before_its_time",
    ),
    Mutant(
        name="delete leaves the lease",
        module="domain.transitions.deletion",
        passage='        Remove("lease_expires_at"),\n',
        replacement="",
        killed_by=TRANSITIONS + "test_a_delete_moves_the_token_and_leaves_a_tombstone",
    ),
    Mutant(
        name="delete tells no end",
        module="domain.transitions.deletion",
        passage='        Set("finished_at", moment.now),\n',
        replacement="",
        killed_by=TRANSITIONS + "test_a_delete_moves_the_token_and_leaves_a_tombstone",
    ),
    Mutant(
        name="TTL takes a tombstone before its clean-up",
        module="domain.transitions.deletion",
        passage="cleanup_at // 1000 + TTL_BACKSTOP_SECONDS",
        replacement="cleanup_at // 1000",
        killed_by=TRANSITIONS + "test_a_delete_moves_the_token_and_leaves_a_tombstone",
    ),
    Mutant(
        name="a stranger learns that a deleted job was there",
        module="service.read_job",
        passage="    if job is None or job.owner != owner:\n",
        replacement="    if job is None or (job.owner != owner and not job.is_deleted):\n",
        killed_by=INGEST_API + "test_a_stranger_does_not_learn_that_a_deleted_job_was_there",
    ),
)
