"""The undelivered queue: messages that SQS gave up on. A lost message is not a failed job."""

from __future__ import annotations

from thumbline.domain.checkup import Delivery, explain_refused_claim
from thumbline.domain.job import Job
from thumbline.domain.messages import BadMessageError, parse_request
from thumbline.domain.transitions.attempt import exhausted_failure
from thumbline.domain.transitions.recovery import requeue
from thumbline.domain.transitions.unleased import exhaust_abandoned, expire
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.reconcile.allowance import Allowance
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport
from thumbline.service.reconcile.treat_each import Treated, treat_each


def drain_undelivered(reconciler: Reconciler, report: ReconcileReport, allowance: Allowance) -> None:
    """Heals the job of each message, then deletes the message: a crash in between only repeats the healing.

    Raises DependencyUnavailableError.
    """
    seen = 0
    while seen < reconciler.max_jobs_per_run and not allowance.is_over:
        deliveries = reconciler.undelivered_queue.receive(reconciler.max_jobs_per_run - seen)
        if not deliveries:
            return
        seen += len(deliveries)
        treat_each(deliveries, lambda delivery: _treat(delivery, reconciler), reconciler, report, allowance)


def _treat(delivery: ReceivedMessage, reconciler: Reconciler) -> Treated:
    """A refused write raises past the delete: whoever was faster may not have done what the message needs."""
    treated = _heal(delivery, reconciler)
    if treated.healed is not Healed.LEFT:
        reconciler.undelivered_queue.delete(delivery.receipt_handle)
    return treated


def _heal(delivery: ReceivedMessage, reconciler: Reconciler) -> Treated:
    try:
        job_id = parse_request(delivery.body).job_id
    except BadMessageError as error:
        if error.job_id is None:
            # The queue's alarm brings a person, and the message must still be there.
            return Treated(Healed.LEFT)
        job_id = error.job_id
    job = reconciler.jobs.get(job_id)
    return Treated(_heal_job(job, reconciler), job)


def _heal_job(job: Job | None, reconciler: Reconciler) -> Healed:
    moment = reconciler.moment()
    if job is None or job.is_deleted or not job.is_open:
        return Healed.DROPPED
    if job.has_live_lease(moment.now, reconciler.timings.skew_seconds):
        return Healed.LEFT
    delivery = explain_refused_claim(job, moment.now, reconciler.timings).delivery
    if delivery is Delivery.EXHAUST:
        failure = exhausted_failure(job.failure, job.attempts)
        reconciler.jobs.apply(job.job_id, exhaust_abandoned(job.job_id, failure, moment))
        return Healed.EXHAUSTED
    if delivery is Delivery.EXPIRE:
        reconciler.jobs.apply(job.job_id, expire(job.job_id, moment))
        return Healed.EXPIRED
    reconciler.jobs.apply(job.job_id, requeue(job, moment))
    return Healed.REQUEUED
