"""Ingest, relay and the reconciler's passes."""

from __future__ import annotations

from tools.mutants.killers import (
    ACCEPT_IMAGE,
    RECONCILE,
    RECONCILE_LEFTOVERS,
    REDRIVE_AND_DELETE,
    RELAY_OUTBOX,
    STILL_SO,
    UNDER_LOAD,
    UNREADABLE,
)
from tools.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        name="missing second clean-up",
        module="service.reconcile.treat_due_jobs",
        passage="    reconciler.objects.remove_all(thumbnails_prefix(tombstone.job_id))\n",
        replacement="",
        killed_by=REDRIVE_AND_DELETE + "test_a_late_worker_of_a_deleted_job_leaves_nothing_behind",
    ),
    Mutant(
        name="ignore Failed[]",
        module="service.relay_outbox",
        passage="        failed.update(owed[position][0] for position in unconfirmed)\n",
        replacement="",
        killed_by=RELAY_OUTBOX + "test_each_unconfirmed_entry_is_reported_in_stream_order",
    ),
    Mutant(
        name="publish every change",
        module="service.relay_outbox",
        passage=(
            '    if old is not None and old.get("outbox_seq") == new.get("outbox_seq"):\n'
            "        return None\n"
        ),
        replacement="",
        killed_by=RELAY_OUTBOX + "test_only_a_moved_outbox_seq_is_published",
    ),
    Mutant(
        name="a poisoned stream record stops the batch",
        module="service.relay_outbox",
        passage="        except Exception as error:",
        replacement="        except ZeroDivisionError as error:",
        killed_by=RELAY_OUTBOX + "test_a_poisoned_record_does_not_lose_its_neighbours",
    ),
    Mutant(
        name="naive reconciler",
        module="domain.checkup",
        passage="max(patience_ms, 2 * expected_wait_ms)",
        replacement="patience_ms",
        killed_by=RECONCILE + "test_a_backlog_that_explains_the_wait_is_not_amplified",
    ),
    Mutant(
        name="act on a check that is no longer due",
        module="domain.checkup",
        passage="job.next_check_at is None or job.next_check_at > now",
        replacement="job.next_check_at is None",
        killed_by=STILL_SO + "test_an_index_that_lags_does_not_send_twice",
    ),
    Mutant(
        name="rescue before the queue had its turn",
        module="domain.checkup",
        passage="    if rescue_at > now:\n",
        replacement="    if rescue_at < 0:\n",
        killed_by=RECONCILE + "test_a_dead_lease_is_rescued_after_the_queue_had_its_turn",
    ),
    Mutant(
        name="expire instead of exhausting",
        module="domain.checkup",
        passage=(
            "    if job.attempts >= timings.attempt_cap:\n        return RefusedClaim(Delivery.EXHAUST)\n"
        ),
        replacement="",
        killed_by=RECONCILE + "test_an_undelivered_message_by_its_jobs_state",
    ),
    Mutant(
        name="publish before the row is taken",
        module="service.reconcile.treat_due_jobs",
        passage=(
            "    reconciler.jobs.apply(job.job_id, transition)\n"
            "    message = OutgoingMessage(ImageProcessingRequested.for_job(job).to_body())\n"
            "    return"
        ),
        replacement=(
            "    message = OutgoingMessage(ImageProcessingRequested.for_job(job).to_body())\n"
            "    if not reconciler.work_queue.send([message]):\n"
            "        reconciler.jobs.apply(job.job_id, transition)\n"
            "        return healed\n"
            "    return"
        ),
        killed_by=STILL_SO + "test_a_pass_that_dies_between_row_and_send_leaves_a_nearer_check",
    ),
    Mutant(
        name="drop an undelivered message",
        module="service.reconcile.drain_undelivered",
        passage="    reconciler.jobs.apply(job.job_id, requeue(job, moment))\n",
        replacement="",
        killed_by=RECONCILE + "test_an_undelivered_message_is_a_lost_message_not_a_failed_job",
    ),
    Mutant(
        name="delete an undelivered message before its write",
        module="service.reconcile.drain_undelivered",
        passage="    treated = _heal(delivery, reconciler)\n",
        replacement=(
            "    reconciler.undelivered_queue.delete(delivery.receipt_handle)\n"
            "    treated = _heal(delivery, reconciler)\n"
        ),
        killed_by=STILL_SO + "test_an_undelivered_message_outlives_the_death_of_its_healer",
    ),
    Mutant(
        name="drop an undelivered message of a live attempt",
        module="service.reconcile.drain_undelivered",
        passage="    if treated.healed is not Healed.LEFT:\n",
        replacement="    if treated:\n",
        killed_by=RECONCILE + "test_an_undelivered_message_by_its_jobs_state",
    ),
    Mutant(
        name="drop an undelivered message that was overtaken",
        module="service.reconcile.drain_undelivered",
        passage="    treated = _heal(delivery, reconciler)\n",
        replacement=(
            "    try:\n"
            "        treated = _heal(delivery, reconciler)\n"
            "    except Exception:\n"
            "        treated = Treated(Healed.DROPPED)\n"
        ),
        killed_by=STILL_SO + "test_an_undelivered_message_that_was_overtaken_is_left",
    ),
    Mutant(
        name="forget a lost stream record before it is owed again",
        module="service.reconcile.renew_owed",
        passage="    treated = treat_each(\n",
        replacement=(
            "    reconciler.relay_failure_queue.delete(failure.receipt_handle)\n    treated = treat_each(\n"
        ),
        killed_by=STILL_SO + "test_a_lost_stream_record_outlives_the_death_of_its_healer",
    ),
    Mutant(
        name="owe what was owed again since",
        module="service.reconcile.renew_owed",
        passage=" or job.outbox_seq != lost_seq",
        replacement="",
        killed_by=UNDER_LOAD + "test_what_the_relay_gave_up_on_is_owed_once_though_a_sibling_still_runs",
    ),
    Mutant(
        name="call half a record of the relay's done",
        module="service.reconcile.renew_owed",
        passage="len(treated) == len(owed) and ",
        replacement="",
        killed_by=UNDER_LOAD + "test_a_record_may_stand_for_more_jobs_than_a_part_of_a_pass_treats",
    ),
    Mutant(
        name="a row that cannot be read stops the pass",
        module="service.reconcile.treat_each",
        passage="    except Exception as error:\n",
        replacement="    except ZeroDivisionError as error:\n",
        killed_by=UNREADABLE + "test_no_row_that_cannot_be_read_stops_a_pass",
    ),
    Mutant(
        name="a part takes all the time of a pass",
        module="service.reconcile.allowance",
        passage="FINISHING_SECONDS + left / 2",
        replacement="0",
        killed_by=UNDER_LOAD
        + "test_a_pass_that_runs_out_of_time_leaves_some_to_each_part_and_writes_its_snapshot",
    ),
    Mutant(
        name="ends of retention stand before jobs that wait",
        module="domain.keys",
        passage='    return f"{phase}-{zlib.crc32(job_id.encode()) % DUE_SHARDS}"\n',
        replacement='    return f"{Phase.QUEUED}-{zlib.crc32(job_id.encode()) % DUE_SHARDS}"\n',
        killed_by="tests/unit/domain/test_small_rules.py::test_every_shard_of_a_phase_is_used",
    ),
    Mutant(
        name="shards one after the other",
        module="service.reconcile.treat_due_jobs",
        passage="[job_id for in_turn in zip_longest(*due) for job_id in in_turn if job_id is not None]",
        replacement="[job_id for shard in due for job_id in shard]",
        killed_by=UNDER_LOAD + "test_where_the_time_ends_no_shard_is_behind_the_others",
    ),
    Mutant(
        name="one refusal ends a part",
        module="service.reconcile.allowance",
        passage="self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW",
        replacement="self.failures_in_a_row >= 1",
        killed_by=UNDER_LOAD + "test_one_row_that_is_refused_hides_none_of_the_others",
    ),
    Mutant(
        name="one failure record that cannot be read ends a part",
        module="service.reconcile.renew_owed",
        passage="    except Exception as error:\n",
        replacement="    except ZeroDivisionError as error:\n",
        killed_by=UNDER_LOAD + "test_one_failure_record_that_cannot_be_read_hides_none_of_the_others",
    ),
    Mutant(
        name="forget the oldest queued job",
        module="service.reconcile.run_pass",
        passage="(last.oldest_open, last.oldest_queued)",
        replacement="(last.oldest_open,)",
        killed_by=RECONCILE_LEFTOVERS
        + "test_the_oldest_queued_job_is_remembered_beside_an_older_one_that_runs",
    ),
    Mutant(
        name="a success between failures is forgotten",
        module="service.reconcile.allowance",
        passage="self.failures_in_a_row + 1 if failed else 0",
        replacement="self.failures_in_a_row + (1 if failed else 0)",
        killed_by=UNDER_LOAD + "test_failures_between_successes_end_no_part",
    ),
    Mutant(
        name="a dead lease is checked past the deadline",
        module="domain.checkup",
        passage="by_deadline(rescue_at, job.deadline_at)",
        replacement="rescue_at",
        killed_by=RECONCILE + "test_a_worker_that_dies_just_before_the_deadline_keeps_nobody_waiting_past_it",
    ),
    Mutant(
        name="forget a lost stream record of a live attempt",
        module="service.reconcile.renew_owed",
        passage="all(one.healed in _SETTLED for one in treated)",
        replacement="treated",
        killed_by=STILL_SO + "test_a_lost_stream_record_of_a_live_attempt_is_left",
    ),
    Mutant(
        name="sweep originals of live jobs",
        module="service.reconcile.sweep_orphans",
        passage="    if not is_job_id(job_id) or reconciler.jobs.get(job_id) is not None:\n",
        replacement="    if not is_job_id(job_id):\n",
        killed_by=RECONCILE_LEFTOVERS + "test_orphans_go_after_a_day_and_originals_with_a_row_stay",
    ),
    Mutant(
        name="sweep originals that are being accepted",
        module="service.reconcile.sweep_orphans",
        passage="            return keys[:position]\n",
        replacement="            continue\n",
        killed_by=RECONCILE_LEFTOVERS + "test_orphans_go_after_a_day_and_originals_with_a_row_stay",
    ),
    Mutant(
        name="a reused key is answered with another picture's job",
        module="service.accept_job",
        passage="    if record.fingerprint != print_of_request:\n",
        replacement="    if record is None:\n",
        killed_by=ACCEPT_IMAGE + "test_the_same_key_with_another_payload_changes_nothing",
    ),
    Mutant(
        name="a replay does not see the delete",
        module="service.accept_job",
        passage="    if job is None or job.is_deleted:\n",
        replacement="    if job is None:\n",
        killed_by=ACCEPT_IMAGE + "test_the_key_of_a_deleted_job_answers_gone",
    ),
    Mutant(
        name="the relay's record of an overtaken row is forgotten",
        module="service.reconcile.renew_owed",
        passage="frozenset({Healed.OWED_AGAIN, Healed.DROPPED})",
        replacement="frozenset({Healed.OWED_AGAIN, Healed.DROPPED, Healed.OVERTAKEN})",
        killed_by=RECONCILE_LEFTOVERS + "test_a_relay_failure_stays_until_each_of_its_rows_is_settled",
    ),
    Mutant(
        name="of a lost batch one job is owed again",
        module="service.reconcile.renew_owed",
        passage="        list(owed), lambda job_id",
        replacement="        list(owed)[:1], lambda job_id",
        killed_by=RECONCILE_LEFTOVERS + "test_a_relay_failure_stays_until_each_of_its_rows_is_settled",
    ),
    Mutant(
        name="an expired job owes a copy",
        module="domain.dead_letters",
        passage="job.failure.code is FailureCode.ATTEMPTS_EXHAUSTED",
        replacement="job.failure.code in (FailureCode.ATTEMPTS_EXHAUSTED, FailureCode.EXPIRED)",
        killed_by=RECONCILE_LEFTOVERS + "test_an_expired_job_whose_publish_was_lost_owes_nothing",
    ),
    Mutant(
        name="judge an undelivered message's lease without skew",
        module="service.reconcile.drain_undelivered",
        passage="has_live_lease(moment.now, reconciler.timings.skew_seconds)",
        replacement="has_live_lease(moment.now, 0)",
        killed_by=RECONCILE + "test_an_undelivered_message_by_its_jobs_state",
    ),
    Mutant(
        name="the sweep passes an original that it could not treat",
        module="service.reconcile.sweep_orphans",
        passage=" or any(one.healed is Healed.FAILED for one in treated)",
        replacement="",
        killed_by=RECONCILE_LEFTOVERS + "test_the_sweep_does_not_pass_an_original_that_it_could_not_treat",
    ),
    Mutant(
        name="the sweep passes what it had no time for",
        module="service.reconcile.sweep_orphans",
        passage="len(treated) < len(chunk) or ",
        replacement="",
        killed_by=RECONCILE_LEFTOVERS + "test_the_sweep_does_not_pass_what_it_had_no_time_for",
    ),
    Mutant(
        name="a failure sends the sweep back to the oldest original",
        module="service.reconcile.run_pass",
        passage="        report.orphans_seen_until = last.orphans_seen_until\n",
        replacement="",
        killed_by=RECONCILE_LEFTOVERS
        + "test_a_listing_that_fails_does_not_send_the_sweep_back_to_the_oldest_original",
    ),
    Mutant(
        name="a retry tells how long a message waits",
        module="service.reconcile.measure_wait",
        passage="job.attempts != 1 or job.republish_count",
        replacement="job.republish_count",
        killed_by=UNDER_LOAD + "test_a_job_that_runs_again_does_not_tell_how_long_a_message_waits",
    ),
)
