"""What an attempt's own writes require, and what every transition shares."""

from __future__ import annotations

from tools.mutants.killers import HEARTBEAT, PROCESS_BATCH, STILL_SO, TRANSITIONS
from tools.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        name="claim a live lease",
        module="domain.transitions.attempt",
        passage="any_of(is_queued(), has_dead_lease(moment)),",
        replacement="any_of(is_queued(), owned_by(0)[0]),",
        killed_by=PROCESS_BATCH + "test_a_live_foreign_lease_is_bounced_to_its_end_and_never_acknowledged",
    ),
    Mutant(
        name="claim in any state",
        module="domain.transitions.attempt",
        passage="            any_of(is_queued(), has_dead_lease(moment)),\n",
        replacement="",
        killed_by=PROCESS_BATCH + "test_a_terminal_job_is_skipped_and_nothing_is_rendered_again",
    ),
    Mutant(
        name="claim past the cap",
        module="domain.transitions.attempt",
        passage='            Compare("attempts", "<", timings.attempt_cap),\n',
        replacement="",
        killed_by=PROCESS_BATCH + "test_attempts_that_all_died_are_exhausted_by_the_next_receiver",
    ),
    Mutant(
        name="claim before available_at",
        module="domain.transitions.attempt",
        passage='            Compare("available_at", "<=", moment.after(timings.skew_seconds)),\n',
        replacement="",
        killed_by=PROCESS_BATCH + "test_nobody_claims_before_available_at",
    ),
    Mutant(
        name="claim past the deadline",
        module="domain.transitions.attempt",
        passage='            Compare("deadline_at", ">=", moment.now),\n',
        replacement="",
        killed_by=PROCESS_BATCH + "test_a_job_past_its_deadline_is_expired_by_its_receiver",
    ),
    Mutant(
        name="claim without a new token",
        module="domain.transitions.attempt",
        passage=('        Add("fencing_token", 1),\n        Add("attempts", 1),'),
        replacement='        Add("attempts", 1),',
        killed_by=HEARTBEAT + "test_a_lost_lease_is_noticed_by_the_next_beat",
    ),
    Mutant(
        name="claim without counting the attempt",
        module="domain.transitions.attempt",
        passage='        Add("attempts", 1),\n',
        replacement="",
        killed_by=PROCESS_BATCH + "test_a_queued_job_becomes_a_stored_thumbnail",
    ),
    Mutant(
        name="heartbeat without token",
        module="domain.transitions.attempt",
        passage=('        moment,\n        owned_by(token),\n        Set("lease_expires_at"'),
        replacement=('        moment,\n        owned_by(token)[:1],\n        Set("lease_expires_at"'),
        killed_by=HEARTBEAT + "test_a_lost_lease_is_noticed_by_the_next_beat",
    ),
    Mutant(
        name="heartbeat without status",
        module="domain.transitions.attempt",
        passage=('        moment,\n        owned_by(token),\n        Set("lease_expires_at"'),
        replacement=('        moment,\n        owned_by(token)[1:],\n        Set("lease_expires_at"'),
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="complete without token",
        module="domain.transitions.attempt",
        passage=(
            "        moment,\n        owned_by(token),\n        *finished(job_id, moment, Status.SUCCEEDED)"
        ),
        replacement=(
            "        moment,\n"
            "        owned_by(token)[:1],\n"
            "        *finished(job_id, moment, Status.SUCCEEDED)"
        ),
        killed_by=PROCESS_BATCH + "test_a_worker_that_lost_its_lease_writes_nothing_and_does_not_acknowledge",
    ),
    Mutant(
        name="complete without status",
        module="domain.transitions.attempt",
        passage=(
            "        moment,\n        owned_by(token),\n        *finished(job_id, moment, Status.SUCCEEDED)"
        ),
        replacement=(
            "        moment,\n"
            "        owned_by(token)[1:],\n"
            "        *finished(job_id, moment, Status.SUCCEEDED)"
        ),
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="fail without token",
        module="domain.transitions.attempt",
        passage=(
            "        moment,\n        owned_by(token),\n        *finished(job_id, moment, Status.FAILED)"
        ),
        replacement=(
            "        moment,\n        owned_by(token)[:1],\n        *finished(job_id, moment, Status.FAILED)"
        ),
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="exhaust below the cap",
        module="domain.transitions.attempt",
        passage='(*owned_by(token), Compare("attempts", ">=", moment.timings.attempt_cap)),',
        replacement="owned_by(token),",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="exhaust without owing a copy",
        module="domain.transitions.attempt",
        passage=('        Set("failure", failure.to_record()),\n        Add("outbox_seq", 1),\n'),
        replacement='        Set("failure", failure.to_record()),\n',
        killed_by=PROCESS_BATCH + "test_backoff_grows_and_the_last_attempt_exhausts_with_an_annotated_copy",
    ),
    Mutant(
        name="release without token",
        module="domain.transitions.attempt",
        passage="        owned_by(claimed.fencing_token),\n",
        replacement="        owned_by(claimed.fencing_token)[:1],\n",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
    Mutant(
        name="an outage spends the attempt",
        module="domain.transitions.attempt",
        passage='(Add("attempts", -1),) if give_attempt_back else ()',
        replacement="()",
        killed_by=PROCESS_BATCH + "test_a_dependency_that_is_down_gives_the_attempt_back",
    ),
    Mutant(
        name="forget the write id",
        module="domain.transition",
        passage='condition=all_of(*conditions, Differs("write_id", moment.write_id)),',
        replacement="condition=all_of(*conditions),",
        killed_by=STILL_SO + "test_no_condition_holds_on_a_row_that_shows_its_own_write_id",
    ),
    Mutant(
        name="lose against one's own first write",
        module="domain.transition",
        passage=(
            '    if row is not None and row.get("write_id") == transition.write_id:\n'
            "        return dict(row)\n"
        ),
        replacement="",
        killed_by=TRANSITIONS + "test_an_unheard_success_is_not_done_twice",
    ),
    Mutant(
        name="no skew for leases",
        module="domain.transition",
        passage="self.now - self.timings.skew_seconds * 1000",
        replacement="self.now",
        killed_by=TRANSITIONS + "test_a_transition_holds_in_its_states_and_in_no_other",
    ),
)
