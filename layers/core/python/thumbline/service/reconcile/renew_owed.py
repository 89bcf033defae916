"""The relay failure queue: stream records that the relay gave up on. What their rows owe is owed again."""

from __future__ import annotations

from thumbline.domain.dead_letters import owes_copy
from thumbline.domain.job import Job, Status
from thumbline.domain.relay_failures import parse_lost_batch
from thumbline.domain.transitions.recovery import owe_again
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.reconcile.allowance import Allowance
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport
from thumbline.service.reconcile.treat_each import Treated, treat_each, untreated

_SETTLED = frozenset({Healed.OWED_AGAIN, Healed.DROPPED})


def renew_owed(reconciler: Reconciler, report: ReconcileReport, allowance: Allowance) -> None:
    """Bumps each row's outbox, then deletes the record: a crash in between owes nothing twice, since what
    the row owes by then is no longer what was lost.

    A row that runs, or changed meanwhile, may still come to owe what was lost, so its record stays for the
    next pass. A stretch that the stream has forgotten is left in the queue, whose alarm brings a person.
    Raises DependencyUnavailableError.
    """
    seen = 0
    while seen < reconciler.max_jobs_per_run:
        failures = reconciler.relay_failure_queue.receive(reconciler.max_jobs_per_run - seen)
        if not failures:
            return
        for failure in failures:
            if allowance.is_over:
                return
            seen += _renew(failure, reconciler, report, allowance)


def _renew(
    failure: ReceivedMessage, reconciler: Reconciler, report: ReconcileReport, allowance: Allowance
) -> int:
    """How many jobs the record stood for, at least 1. Many failures may have been folded into one record."""
    try:
        lost = parse_lost_batch(failure.body)
        owed = None if lost is None else reconciler.outbox.owed(lost)
    except Exception as error:
        unread = untreated(failure, error)
        report.note(unread.healed, error=unread.error)
        allowance.spend(failed=unread.healed is Healed.FAILED)
        return 1
    if owed is None:
        report.note(Healed.LEFT)
        return 1
    treated = treat_each(
        list(owed), lambda job_id: _owe_again(job_id, owed[job_id], reconciler), reconciler, report, allowance
    )
    if len(treated) == len(owed) and all(one.healed in _SETTLED for one in treated):
        reconciler.relay_failure_queue.delete(failure.receipt_handle)
    return max(1, len(owed))


def _owe_again(job_id: str, lost_seq: int, reconciler: Reconciler) -> Treated:
    job = reconciler.jobs.get(job_id)
    if job is None or job.is_deleted or job.outbox_seq != lost_seq:
        return Treated(Healed.DROPPED)  # what it has come to owe since has a record of its own
    if job.status is Status.RUNNING:
        return Treated(Healed.LEFT, job)
    if not _owes(job):
        return Treated(Healed.DROPPED)
    reconciler.jobs.apply(job_id, owe_again(job, reconciler.moment()))
    return Treated(Healed.OWED_AGAIN, job)


def _owes(job: Job) -> bool:
    return job.status is Status.QUEUED or (job.status is Status.FAILED and owes_copy(job))
