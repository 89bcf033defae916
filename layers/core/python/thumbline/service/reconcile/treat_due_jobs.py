"""Jobs whose check is due: lost messages, dead leases, deadlines, tombstones, the end of retention."""

from __future__ import annotations

from thumbline.domain.checkup import Diagnosis, Treatment, diagnose
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.keys import ALL_SHARDS, original_key, thumbnails_prefix
from thumbline.domain.messages import ImageProcessingRequested, OutgoingMessage
from thumbline.domain.transition import Transition, TransitionRefusedError
from thumbline.domain.transitions.attempt import exhausted_failure
from thumbline.domain.transitions.deletion import purge, retire
from thumbline.domain.transitions.recovery import postpone_check, republish, rescue
from thumbline.domain.transitions.unleased import exhaust_abandoned, expire
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport


def treat_due_jobs(reconciler: Reconciler, report: ReconcileReport) -> None:
    """Treats up to `max_jobs_per_run` rows, an equal share of each shard.

    Raises DependencyUnavailableError where the index cannot be read.
    """
    for shard in ALL_SHARDS:
        for job_id in reconciler.jobs.due(shard, reconciler.clock.now(), due_per_shard(reconciler)):
            try:
                healed = _treat(job_id, reconciler, report)
            except TransitionRefusedError:
                healed = Healed.OVERTAKEN
            except DependencyUnavailableError as error:
                healed = Healed.FAILED
                report.errors.append(f"{job_id}: {error}")
            except Exception as error:  # one row that cannot be read must not hide the others
                healed = Healed.FAILED
                report.errors.append(f"{job_id}: {type(error).__name__}: {error}")
            report.counts[healed] += 1


def due_per_shard(reconciler: Reconciler) -> int:
    return -(-reconciler.max_jobs_per_run // len(ALL_SHARDS))


def _treat(job_id: str, reconciler: Reconciler, report: ReconcileReport) -> Healed:
    job = reconciler.jobs.get(job_id)
    report.meet(job)
    diagnosis = diagnose(job, reconciler.clock.now(), reconciler.timings, report.expected_wait_ms)
    if job is None or diagnosis.treatment is Treatment.NONE:
        return Healed.OVERTAKEN
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
