"""Ingest, relay and the reconciler's passes."""

from __future__ import annotations

from tools.mutants.killers import (
    ACCEPT_IMAGE,
    RECONCILE,
    RECONCILE_LEFTOVERS,
    REDRIVE_AND_DELETE,
    RELAY_OUTBOX,
    STILL_SO,
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
        passage="            healed = _heal(delivery, reconciler, report)\n",
        replacement=(
            "            reconciler.undelivered_queue.delete(delivery.receipt_handle)\n"
            "            healed = _heal(delivery, reconciler, report)\n"
        ),
        killed_by=STILL_SO + "test_an_undelivered_message_outlives_the_death_of_its_healer",
    ),
    Mutant(
        name="drop an undelivered message of a live attempt",
        module="service.reconcile.drain_undelivered",
        passage=("            if healed not in (Healed.LEFT, Healed.OVERTAKEN):\n                reconciler"),
        replacement=("            if healed is not Healed.OVERTAKEN:\n                reconciler"),
        killed_by=RECONCILE + "test_an_undelivered_message_by_its_jobs_state",
    ),
    Mutant(
        name="drop an undelivered message that was overtaken",
        module="service.reconcile.drain_undelivered",
        passage=("            if healed not in (Healed.LEFT, Healed.OVERTAKEN):\n                reconciler"),
        replacement=("            if healed is not Healed.LEFT:\n                reconciler"),
        killed_by=STILL_SO + "test_an_undelivered_message_that_was_overtaken_is_left",
    ),
    Mutant(
        name="forget a lost stream record before it is owed again",
        module="service.reconcile.renew_owed",
        passage="    outcomes = [_owe_again(",
        replacement=(
            "    reconciler.relay_failure_queue.delete(failure.receipt_handle)\n    outcomes = [_owe_again("
        ),
        killed_by=STILL_SO + "test_a_lost_stream_record_outlives_the_death_of_its_healer",
    ),
    Mutant(
        name="forget a lost stream record of a live attempt",
        module="service.reconcile.renew_owed",
        passage="    if not _UNSETTLED.intersection(outcomes):\n",
        replacement="    if outcomes:\n",
        killed_by=STILL_SO + "test_a_lost_stream_record_of_a_live_attempt_is_left",
    ),
    Mutant(
        name="sweep originals of live jobs",
        module="service.reconcile.sweep_orphans",
        passage=("        if reconciler.jobs.get(job_id) is None:\n            reconciler"),
        replacement=("        if job_id:\n            reconciler"),
        killed_by=RECONCILE_LEFTOVERS + "test_orphans_go_after_a_day_and_originals_with_a_row_stay",
    ),
    Mutant(
        name="sweep originals that are being accepted",
        module="service.reconcile.sweep_orphans",
        passage=("        if created_at_of(job_id) > ripe_before:\n            break\n"),
        replacement="",
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
)
