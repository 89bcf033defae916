"""Jobs whose check is due: lost messages, dead leases, deadlines, tombstones, the end of retention."""

from __future__ import annotations

from itertools import zip_longest

from thumbline.domain.checkup import Diagnosis, Treatment, diagnose
from thumbline.domain.job import Job
from thumbline.domain.keys import Phase, original_key, shards_of, thumbnails_prefix
from thumbline.domain.messages import ImageProcessingRequested, OutgoingMessage
from thumbline.domain.schema import DUE_SHARDS
from thumbline.domain.transition import Transition
from thumbline.domain.transitions.attempt import exhausted_failure
from thumbline.domain.transitions.deletion import purge, retire
from thumbline.domain.transitions.recovery import postpone_check, republish, rescue
from thumbline.domain.transitions.unleased import exhaust_abandoned, expire
from thumbline.service.reconcile.allowance import Allowance
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport
from thumbline.service.reconcile.treat_each import Treated, treat_each


def treat_due_jobs(
    phase: Phase, reconciler: Reconciler, report: ReconcileReport, allowance: Allowance
) -> None:
    """Treats up to `max_jobs_per_run` rows of one phase.

    Raises DependencyUnavailableError where the index cannot be read, NothingWorksError where rows cannot.
    """
    wait_ms = report.expected_wait_ms
    due = due_jobs(phase, reconciler)
    treat_each(due, lambda job_id: _treat(job_id, reconciler, wait_ms), reconciler, report, allowance)


def due_jobs(phase: Phase, reconciler: Reconciler) -> list[str]:
    """One of each shard in turn, the longest due first: where the time ends, no shard is behind the others.

    Raises DependencyUnavailableError.
    """
    of_each = -(-reconciler.max_jobs_per_run // DUE_SHARDS)
    now = reconciler.clock.now()
    due = [reconciler.jobs.due(shard, now, of_each) for shard in shards_of(phase)]
    return [job_id for in_turn in zip_longest(*due) for job_id in in_turn if job_id is not None]


def _treat(job_id: str, reconciler: Reconciler, expected_wait_ms: int | None) -> Treated:
    job = reconciler.jobs.get(job_id)
    diagnosis = diagnose(job, reconciler.clock.now(), reconciler.timings, expected_wait_ms)
    if job is None or diagnosis.treatment is Treatment.NONE:
        return Treated(Healed.OVERTAKEN, job)
    return Treated(_healed(job, diagnosis, reconciler), job)


def _healed(job: Job, diagnosis: Diagnosis, reconciler: Reconciler) -> Healed:
    match diagnosis.treatment:
        case Treatment.PURGE:
            return _purge(job, reconciler)
        case Treatment.REPUBLISH:
            return _publish_after(republish(job, reconciler.moment()), Healed.REPUBLISHED, reconciler, job)
        case Treatment.RESCUE:
            return _publish_after(rescue(job, reconciler.moment()), Healed.RESCUED, reconciler, job)
    transition, healed = _written(job, diagnosis, reconciler)
    reconciler.jobs.apply(job.job_id, transition)
    return healed


def _written(job: Job, diagnosis: Diagnosis, reconciler: Reconciler) -> tuple[Transition, Healed]:
    """The treatments that are one write and nothing more."""
    moment = reconciler.moment()
    match diagnosis.treatment:
        case Treatment.EXPIRE:
            return expire(job.job_id, moment), Healed.EXPIRED
        case Treatment.EXHAUST:
            failure = exhausted_failure(job.failure, job.attempts)
            return exhaust_abandoned(job.job_id, failure, moment), Healed.EXHAUSTED
        case Treatment.RETIRE:
            return retire(job, moment), Healed.RETIRED
        case _:
            return postpone_check(job, diagnosis.check_at, moment), Healed.POSTPONED


def _publish_after(transition: Transition, healed: Healed, reconciler: Reconciler, job: Job) -> Healed:
    """The row first, so that two passes at once publish once; a crash in between is the next check's work."""
    reconciler.jobs.apply(job.job_id, transition)
    message = OutgoingMessage(ImageProcessingRequested.for_job(job).to_body())
    return Healed.UNPUBLISHED if reconciler.work_queue.send([message]) else healed


def _purge(tombstone: Job, reconciler: Reconciler) -> Healed:
    """The second clean-up, after any late worker; then the row, which alone remembers what to clean."""
    reconciler.objects.remove_all(thumbnails_prefix(tombstone.job_id))
    reconciler.objects.remove_all(original_key(tombstone.job_id))
    removed = reconciler.jobs.purge(tombstone.job_id, purge(tombstone, reconciler.moment()))
    return Healed.PURGED if removed else Healed.OVERTAKEN
