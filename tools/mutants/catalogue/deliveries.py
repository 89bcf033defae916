"""The worker: acknowledgements, heartbeats, batches."""

from __future__ import annotations

from tools.mutants.killers import (
    BAD_MESSAGES,
    HEARTBEAT,
    LEASES_AND_TIMERS,
    NEAR_THE_TIME_OUT,
    ORDER_OF_EFFECTS,
    OVERTAKEN,
    PROCESS_BATCH,
    STILL_SO,
)
from tools.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        name="acknowledge a live foreign lease",
        module="service.worker",
        passage="        Outcome.REJECTED,\n",
        replacement=("        Outcome.REJECTED,\n        Outcome.BOUNCED,\n"),
        killed_by=PROCESS_BATCH + "test_a_live_foreign_lease_is_bounced_to_its_end_and_never_acknowledged",
    ),
    Mutant(
        name="acknowledge before the work is done",
        module="service.worker",
        passage="        Outcome.REJECTED,\n",
        replacement=("        Outcome.REJECTED,\n        Outcome.RELEASED,\n"),
        killed_by=PROCESS_BATCH + "test_a_transient_failure_releases_row_and_message_to_the_same_moment",
    ),
    Mutant(
        name="acknowledge an unreadable row",
        module="service.worker",
        passage="        Outcome.REJECTED,\n",
        replacement=("        Outcome.REJECTED,\n        Outcome.UNREADABLE,\n"),
        killed_by=PROCESS_BATCH
        + "test_an_unheard_completion_is_not_acknowledged_and_costs_one_attempt_at_most",
    ),
    Mutant(
        name="acknowledge a lost lease",
        module="service.worker",
        passage="        Outcome.REJECTED,\n",
        replacement=("        Outcome.REJECTED,\n        Outcome.LOST,\n"),
        killed_by=PROCESS_BATCH + "test_a_worker_that_lost_its_lease_writes_nothing_and_does_not_acknowledge",
    ),
    Mutant(
        name="never acknowledge a terminal row",
        module="service.worker",
        passage="        Outcome.SKIPPED,\n        Outcome.FENCED",
        replacement="        Outcome.FENCED",
        killed_by=PROCESS_BATCH + "test_a_terminal_job_is_skipped_and_nothing_is_rendered_again",
    ),
    Mutant(
        name="never acknowledge a write that a terminal row refused",
        module="service.worker",
        passage="        Outcome.FENCED,\n        Outcome.REJECTED",
        replacement="        Outcome.REJECTED",
        killed_by=PROCESS_BATCH + "test_a_delete_during_the_attempt_wins",
    ),
    Mutant(
        name="what was not begun stays hidden",
        module="service.process_batch",
        passage="            _give_back(unstarted, worker)\n",
        replacement="            pass\n",
        killed_by=NEAR_THE_TIME_OUT + "test_what_is_not_begun_is_another_workers_at_once",
    ),
    Mutant(
        name="what was not begun is shown although nothing could be claimed",
        module="service.process_batch",
        passage="        if unstarted and heartbeat.has_begun:\n",
        replacement="        if unstarted:\n",
        killed_by=NEAR_THE_TIME_OUT + "test_what_nobody_could_claim_keeps_the_queues_own_timer",
    ),
    Mutant(
        name="a beat overwrites a timer",
        module="service.process_delivery",
        passage="        self._heartbeat.leave(handle)\n",
        replacement="",
        killed_by=STILL_SO + "test_no_beat_touches_a_message_that_has_a_timer_of_its_own",
    ),
    Mutant(
        name="a beat outlives its attempt",
        module="service.heartbeat",
        passage=("        with self._lock:\n            self._leased = None\n"),
        replacement="        with self._lock:\n",
        killed_by=HEARTBEAT + "test_a_finished_record_holds_its_message_only",
    ),
    Mutant(
        name="shorten before the first claim",
        module="service.heartbeat",
        passage="if not self._begun or self._remaining_seconds() <= 0:",
        replacement="if self._remaining_seconds() <= 0:",
        killed_by=HEARTBEAT + "test_nothing_is_shortened_before_the_first_claim",
    ),
    Mutant(
        name="a stuck worker beats on",
        module="service.heartbeat",
        passage="if not self._begun or self._remaining_seconds() <= 0:",
        replacement="if not self._begun:",
        killed_by=HEARTBEAT + "test_beats_end_with_the_functions_time",
    ),
    Mutant(
        name="a failed beat loses the lease",
        module="service.heartbeat",
        passage=("        except DependencyUnavailableError:\n            return\n"),
        replacement=("        except DependencyUnavailableError:\n            self._lost = True\n"),
        killed_by=HEARTBEAT + "test_a_beat_that_fails_does_not_lose_the_lease",
    ),
    Mutant(
        name="a slow beat delays the next one",
        module="service.pulse",
        passage="max(0.0, every_seconds - (monotonic() - began))",
        replacement="every_seconds",
        killed_by=HEARTBEAT + "test_beats_begin_at_equal_distances_however_long_they_take",
    ),
    Mutant(
        name="a claim that was heard late keeps what is left of its lease",
        module="service.heartbeat",
        passage="                self._extend_lease(claimed)\n",
        replacement="                pass\n",
        killed_by=HEARTBEAT + "test_a_claim_that_is_heard_late_is_extended_at_once",
    ),
    Mutant(
        name="a bad message is dropped without a copy",
        module="service.process_delivery",
        passage="        if self._worker.dead_letters.send([copy]):",
        replacement="        if self._worker.dead_letters.send([copy]) and False:",
        killed_by=BAD_MESSAGES + "test_a_bad_message_stays_until_its_copy_is_confirmed",
    ),
    Mutant(
        name="a bad message that bounces leaves a copy each time",
        module="service.process_delivery",
        passage="            if held is not None:\n",
        replacement="            if held is not None and False:\n",
        killed_by=BAD_MESSAGES + "test_a_bad_message_that_bounces_leaves_no_copy_until_it_is_acknowledged",
    ),
    Mutant(
        name="a bad message that was overtaken is acknowledged",
        module="service.process_delivery",
        passage="                if refused.job is not None and refused.job.is_open:\n",
        replacement="                if refused.job is None:\n",
        killed_by=BAD_MESSAGES + "test_a_claim_between_the_look_and_the_write_keeps_the_message",
    ),
    Mutant(
        name="a lost lease puts its thumbnails",
        module="service.make_thumbnails",
        passage="        if is_lost():\n            return None\n",
        replacement="",
        killed_by=STILL_SO + "test_a_worker_that_lost_its_lease_while_rendering_puts_nothing",
    ),
    Mutant(
        name="a record is begun with no time left",
        module="service.process_batch",
        passage=("            if remaining_seconds() < worker.limits.wall_seconds + FINISHING_SECONDS:"),
        replacement="            if remaining_seconds() < 0:",
        killed_by=NEAR_THE_TIME_OUT + "test_the_worker_stops_taking_records_near_its_time_out",
    ),
    Mutant(
        name="a bad record takes its siblings with it",
        module="service.process_batch",
        passage="            except Exception as error:",
        replacement="            except ZeroDivisionError as error:",
        killed_by=STILL_SO + "test_an_error_of_ours_is_one_records_fault",
    ),
    Mutant(
        name="an outage is not waited for longer each time",
        module="service.process_delivery",
        passage="max(claimed.attempts, self._delivery.receive_count)",
        replacement="claimed.attempts",
        killed_by=LEASES_AND_TIMERS + "test_an_outage_is_waited_for_longer_each_time",
    ),
    Mutant(
        name="a released message wakes before its job",
        module="service.process_delivery",
        passage="max(1, round(wait_seconds + 0.5))",
        replacement="1",
        killed_by=LEASES_AND_TIMERS + "test_a_released_message_sleeps_as_long_as_its_job",
    ),
    Mutant(
        name="a beat moves a message that is being released",
        module="service.process_delivery",
        passage=(
            "        self._heartbeat.end()\n"
            "        self._heartbeat.leave(self._delivery.receipt_handle)\n"
            "        timings"
        ),
        replacement="        self._heartbeat.end()\n        timings",
        killed_by=LEASES_AND_TIMERS + "test_no_beat_moves_a_message_that_is_being_released",
    ),
    Mutant(
        name="a beat extends a lease that is being released",
        module="service.process_delivery",
        passage=(
            "        self._heartbeat.end()\n"
            "        self._heartbeat.leave(self._delivery.receipt_handle)\n"
            "        timings"
        ),
        replacement="        self._heartbeat.leave(self._delivery.receipt_handle)\n        timings",
        killed_by=LEASES_AND_TIMERS + "test_an_attempt_that_ends_is_not_extended_any_more",
    ),
    Mutant(
        name="a beat extends a lease that is being ended",
        module="service.process_delivery",
        passage="        self._heartbeat.end()\n        ended = self._end_attempt(transition)\n",
        replacement="        ended = self._end_attempt(transition)\n",
        killed_by=LEASES_AND_TIMERS + "test_an_attempt_that_ends_is_not_extended_any_more",
    ),
    Mutant(
        name="the lease of a broken record beats on",
        module="service.process_batch",
        passage="                heartbeat.end()\n",
        replacement="",
        killed_by=LEASES_AND_TIMERS + "test_the_lease_of_a_record_that_broke_runs_out",
    ),
    Mutant(
        name="a lost record stays held",
        module="service.process_delivery",
        passage=(
            "        self._heartbeat.leave(self._delivery.receipt_handle)\n"
            "        return self._done(Outcome.LOST)"
        ),
        replacement="        return self._done(Outcome.LOST)",
        killed_by=LEASES_AND_TIMERS + "test_a_message_whose_lease_was_lost_is_not_held_any_more",
    ),
    Mutant(
        name="one lost lease loses the rest of the batch",
        module="service.heartbeat",
        passage="            self._leased = claimed\n            self._lost = False\n",
        replacement="            self._leased = claimed\n",
        killed_by=LEASES_AND_TIMERS + "test_a_lost_lease_is_the_loss_of_one_record",
    ),
    Mutant(
        name="a release that came too late sets a timer",
        module="service.process_delivery",
        passage=("            return ended\n        return self._set_timer(Outcome.RELEASED,"),
        replacement="            pass\n        return self._set_timer(Outcome.RELEASED,",
        killed_by=OVERTAKEN + "test_a_release_that_came_too_late_sets_no_timer",
    ),
    Mutant(
        name="a claim that was refused too early is not tried again",
        module="service.process_delivery",
        passage="range(_CLAIM_TRIES)",
        replacement="range(1)",
        killed_by=OVERTAKEN + "test_a_lease_that_ends_between_the_claim_and_the_look_is_claimed_at_once",
    ),
    Mutant(
        name="a row points at what was never put",
        module="service.make_thumbnails",
        passage="        worker.objects.put_thumbnail(key, thumbnail.data, thumbnail.content_type)\n",
        replacement="",
        killed_by=ORDER_OF_EFFECTS + "test_thumbnails_then_the_row_then_the_ack",
    ),
)
