"""The reconciler's and the receivers' writes on rows without a live lease."""

from __future__ import annotations

from tools.mutants.killers import PROCESS_BATCH, RECONCILE, STILL_SO, TRANSITIONS
from tools.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        name="republish though no longer as seen",
        module="domain.transitions.recovery",
        passage='            Compare("republish_count", "=", seen.republish_count),\n',
        replacement="",
        killed_by=STILL_SO + "test_of_two_passes_that_saw_the_same_job_one_republishes",
    ),
    Mutant(
        name="rescue without the seen token",
        module="domain.transitions.recovery",
        passage=(
            "            has_dead_lease(moment),\n"
            "            not_deleted(),\n"
            '            Compare("fencing_token", "=", seen.fencing_token),'
        ),
        replacement=("            has_dead_lease(moment),\n            not_deleted(),"),
        killed_by=STILL_SO + "test_a_rescue_is_for_the_attempt_that_was_seen",
    ),
    Mutant(
        name="rescue a live attempt",
        module="domain.transitions.recovery",
        passage="            has_dead_lease(moment),\n",
        replacement="            is_running(),\n",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="rescue past the cap",
        module="domain.transitions.recovery",
        passage=(
            '            Compare("attempts", "<", moment.timings.attempt_cap),\n'
            "        ),\n"
            "        *queued_again(seen.job_id, moment, available_at=moment.now"
        ),
        replacement=("        ),\n        *queued_again(seen.job_id, moment, available_at=moment.now"),
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="requeue a live attempt",
        module="domain.transitions.recovery",
        passage="            open_without_live_lease(moment),\n",
        replacement="",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="requeue shortens a backoff",
        module="domain.transitions.recovery",
        passage="available_at=max(seen.available_at, moment.now)",
        replacement="available_at=moment.now",
        killed_by=TRANSITIONS + "test_a_requeue_keeps_a_backoff",
    ),
    Mutant(
        name="requeue without owing a publish",
        module="domain.transitions.recovery",
        passage=('            deadline_at=seen.deadline_at,\n        ),\n        Add("outbox_seq", 1),\n'),
        replacement=("            deadline_at=seen.deadline_at,\n        ),\n"),
        killed_by=RECONCILE + "test_an_undelivered_message_is_a_lost_message_not_a_failed_job",
    ),
    Mutant(
        name="owe again in another generation",
        module="domain.transitions.recovery",
        passage='            Compare("generation", "=", seen.generation),\n',
        replacement="",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="owe again a second time",
        module="domain.transitions.recovery",
        passage='            Compare("outbox_seq", "=", seen.outbox_seq),\n',
        replacement="",
        killed_by=STILL_SO + "test_two_passes_with_the_same_lost_record_owe_one_publish",
    ),
    Mutant(
        name="postpone though no longer as seen",
        module="domain.transitions.recovery",
        passage='(state, not_deleted(), Compare("next_check_at", "=", seen.next_check_at or 0)),',
        replacement="(state, not_deleted()),",
        killed_by=STILL_SO + "test_a_postponement_does_not_undo_a_nearer_check",
    ),
    Mutant(
        name="exhaust a live last attempt",
        module="domain.transitions.unleased",
        passage=(
            "            open_without_live_lease(moment),\n"
            "            not_deleted(),\n"
            '            Compare("attempts"'
        ),
        replacement=('            not_deleted(),\n            Compare("attempts"'),
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="exhaust an abandoned job below the cap",
        module="domain.transitions.unleased",
        passage='            Compare("attempts", ">=", moment.timings.attempt_cap),\n',
        replacement="",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="exhaust an abandoned job without owing a copy",
        module="domain.transitions.unleased",
        passage='        Add("outbox_seq", 1),\n',
        replacement="",
        killed_by=PROCESS_BATCH + "test_attempts_that_all_died_are_exhausted_by_the_next_receiver",
    ),
    Mutant(
        name="expire a live attempt",
        module="domain.transitions.unleased",
        passage=(
            "            open_without_live_lease(moment),\n"
            "            not_deleted(),\n"
            '            Compare("deadline_at"'
        ),
        replacement=('            not_deleted(),\n            Compare("deadline_at"'),
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="expire before the deadline",
        module="domain.transitions.unleased",
        passage='            Compare("deadline_at", "<", moment.now),\n',
        replacement="",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="a bad message fails a live attempt",
        module="domain.transitions.unleased",
        passage="        (open_without_live_lease(moment), not_deleted()),",
        replacement="        (not_deleted(),),",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
)
