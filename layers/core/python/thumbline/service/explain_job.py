"""Why is this job waiting? Decided as a worker and the reconciler would decide, and changing nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from thumbline.domain.checkup import Delivery, explain_refused_claim
from thumbline.domain.job import Job, Status, dead_from
from thumbline.domain.snapshot import Snapshot
from thumbline.domain.timings import Timings
from thumbline.ports.clock import Clock
from thumbline.ports.jobs import JobReader
from thumbline.ports.queue import Backlog, Depth
from thumbline.ports.snapshots import SnapshotStore

SNAPSHOT_FRESH_SECONDS = 180
"""Three passes of the reconciler: an older snapshot says nothing about now."""


class Reason(StrEnum):
    """Stable names, for programs. The first four wait for nothing."""

    MISSING = "missing"
    DELETED = "deleted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    WORKING = "working"
    """A worker holds the lease."""
    WORKER_LOST = "worker_lost"
    """The lease is over and nobody has taken the job again."""
    ATTEMPTS_SPENT = "attempts_spent"
    PAST_DEADLINE = "past_deadline"
    BACKOFF = "backoff"
    NO_MESSAGE = "no_message"
    """The queue is empty."""
    MESSAGE_LOST = "message_lost"
    """The job has waited longer than the backlog explains, and nothing was published for it since."""
    IN_FLIGHT = "in_flight"
    """Nothing in the queue is visible: the message may be one of those that are hidden."""
    BACKLOG = "backlog"
    NOBODY_WORKS = "nobody_works"
    """There is a backlog, and the last pass of the reconciler found no job that runs from its first message:
    nothing tells how long a message waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`until` is the moment, in epoch milliseconds, at which something happens by itself at the latest.

    `depth` and `snapshot` are there where the answer lies in the work queue.
    """

    reason: Reason
    job: Job | None = None
    until: int | None = None
    depth: Depth | None = None
    snapshot: Snapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an explanation is drawn from."""

    jobs: JobReader
    work_queue: Backlog
    snapshots: SnapshotStore
    clock: Clock
    timings: Timings


def explain_job(job_id: str, observed: Observation) -> Explanation:
    """Raises DependencyUnavailableError."""
    job = observed.jobs.get(job_id)
    if job is None:
        return Explanation(reason=Reason.MISSING)
    now, timings = observed.clock.now(), observed.timings
    refused = explain_refused_claim(job, now, timings)
    match refused.delivery:
        case Delivery.SKIP:
            return _settled(job)
        case Delivery.BOUNCE:
            reason = Reason.WORKING if job.status is Status.RUNNING else Reason.BACKOFF
            return Explanation(reason=reason, job=job, until=refused.retry_at)
        case Delivery.EXHAUST:
            return Explanation(reason=Reason.ATTEMPTS_SPENT, job=job, until=job.next_check_at)
        case Delivery.EXPIRE:
            return Explanation(reason=Reason.PAST_DEADLINE, job=job, until=job.next_check_at)
        case Delivery.RETRY if job.status is Status.RUNNING:
            rescue_at = (
                dead_from(job.lease_expires_at or now, timings) + timings.rescue_patience_seconds * 1000
            )
            return Explanation(reason=Reason.WORKER_LOST, job=job, until=rescue_at)
        case Delivery.RETRY if job.available_at > now:  # within the skew: too soon for our clock alone
            return Explanation(reason=Reason.BACKOFF, job=job, until=job.available_at)
        case Delivery.RETRY:
            return _available(job, now, observed)


def _settled(job: Job) -> Explanation:
    if job.is_deleted:
        return Explanation(reason=Reason.DELETED, job=job, until=job.next_check_at)
    reason = Reason.SUCCEEDED if job.status is Status.SUCCEEDED else Reason.FAILED
    return Explanation(reason=reason, job=job)


def _available(job: Job, now: int, observed: Observation) -> Explanation:
    """QUEUED and free to claim: the answer lies in the queue, where no single message can be looked up."""
    depth = observed.work_queue.depth()
    snapshot = observed.snapshots.read_snapshot()
    if snapshot is not None and now - snapshot.taken_at > SNAPSHOT_FRESH_SECONDS * 1000:
        snapshot = None
    nobody_works = snapshot is not None and snapshot.backlog > 0 and snapshot.expected_wait_ms is None
    explained_ms = (snapshot.expected_wait_ms or 0) if snapshot is not None else 0
    lost_at = job.available_at + max(observed.timings.queued_patience_seconds * 1000, 2 * explained_ms)
    if depth.visible + depth.in_flight + depth.delayed == 0:
        reason = Reason.NO_MESSAGE
    elif depth.visible == 0:
        reason = Reason.IN_FLIGHT
    elif nobody_works:
        reason = Reason.NOBODY_WORKS
    elif snapshot is not None and lost_at <= now and not _was_just_republished(job, now):
        reason = Reason.MESSAGE_LOST
    else:
        reason = Reason.BACKLOG
    until = None if reason is Reason.NOBODY_WORKS else max(lost_at, job.next_check_at or lost_at)
    return Explanation(reason=reason, job=job, until=until, depth=depth, snapshot=snapshot)


def _was_just_republished(job: Job, now: int) -> bool:
    """The reconciler's message is younger than the job, and the next check gives it its time."""
    return job.republish_count > 0 and job.next_check_at is not None and job.next_check_at > now
