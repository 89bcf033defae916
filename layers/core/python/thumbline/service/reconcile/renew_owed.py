"""The relay failure queue: stream records that the relay gave up on. What their rows owe is owed again."""

from __future__ import annotations

from thumbline.domain.dead_letters import owes_copy
from thumbline.domain.job import Job, Status
from thumbline.domain.relay_failures import parse_lost_batch
from thumbline.domain.transition import TransitionRefusedError
from thumbline.domain.transitions.recovery import owe_again
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport

_UNSETTLED = frozenset({Healed.LEFT, Healed.OVERTAKEN})


def renew_owed(reconciler: Reconciler, report: ReconcileReport) -> None:
    """Bumps each row's outbox, then deletes the record: a crash in between only publishes twice.

    A row that runs, or changed meanwhile, may still come to owe what was lost, so its record stays for the
    next pass. A stretch that the stream has forgotten is left in the queue, whose alarm brings a person.
    Raises DependencyUnavailableError.
    """
    seen = 0
    while seen < reconciler.max_jobs_per_run:
        failures = reconciler.relay_failure_queue.receive(reconciler.max_jobs_per_run - seen)
        if not failures:
            return
        seen += len(failures)
        for failure in failures:
            _renew(failure, reconciler, report)


def _renew(failure: ReceivedMessage, reconciler: Reconciler, report: ReconcileReport) -> None:
    lost = parse_lost_batch(failure.body)
    job_ids = None if lost is None else reconciler.outbox.job_ids(lost)
    if job_ids is None:
        report.counts[Healed.LEFT] += 1
        return
    outcomes = [_owe_again(reconciler.jobs.get(job_id), reconciler) for job_id in job_ids]
    report.counts.update(outcomes)
    if not _UNSETTLED.intersection(outcomes):
        reconciler.relay_failure_queue.delete(failure.receipt_handle)


def _owe_again(job: Job | None, reconciler: Reconciler) -> Healed:
    if job is None or job.is_deleted:
        return Healed.DROPPED
    if job.status is Status.RUNNING:
        return Healed.LEFT
    if not _owes(job):
        return Healed.DROPPED
    try:
        reconciler.jobs.apply(job.job_id, owe_again(job, reconciler.moment()))
    except TransitionRefusedError:
        return Healed.OVERTAKEN
    return Healed.OWED_AGAIN


def _owes(job: Job) -> bool:
    return job.status is Status.QUEUED or (job.status is Status.FAILED and owes_copy(job))
