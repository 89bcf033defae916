"""What a row needs, seen by whoever holds a fresh image of it and no lease on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from thumbline.domain.job import Job, Status, dead_from
from thumbline.domain.timings import Timings
from thumbline.domain.transition import by_deadline


class Delivery(Enum):
    """Why a claim was refused, and so what its delivery needs."""

    SKIP = auto()
    """Terminal, deleted or missing: acknowledge."""
    BOUNCE = auto()
    """Someone else's live lease, or a backoff: come back at `retry_at`."""
    EXHAUST = auto()
    EXPIRE = auto()
    RETRY = auto()
    """The row would be claimable now: it changed in between."""


@dataclass(frozen=True, slots=True)
class RefusedClaim:
    delivery: Delivery
    retry_at: int = 0


def explain_refused_claim(job: Job | None, now: int, timings: Timings) -> RefusedClaim:
    """Reads the image that the refused claim itself returned.

    Exhaustion goes before expiry, because only exhaustion owes the operator a copy.
    """
    if job is None or job.is_deleted or not job.is_open:
        return RefusedClaim(Delivery.SKIP)
    if job.has_live_lease(now, timings.skew_seconds):
        return RefusedClaim(Delivery.BOUNCE, (job.lease_expires_at or now) + timings.skew_seconds * 1000)
    if job.attempts >= timings.attempt_cap:
        return RefusedClaim(Delivery.EXHAUST)
    if job.deadline_at < now:
        return RefusedClaim(Delivery.EXPIRE)
    if job.available_at > now + timings.skew_seconds * 1000:
        return RefusedClaim(Delivery.BOUNCE, job.available_at)
    return RefusedClaim(Delivery.RETRY)


class Treatment(Enum):
    """What the reconciler owes a row whose check is due."""

    NONE = auto()
    POSTPONE = auto()
    REPUBLISH = auto()
    RESCUE = auto()
    EXHAUST = auto()
    EXPIRE = auto()
    RETIRE = auto()
    PURGE = auto()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    treatment: Treatment
    check_at: int = 0
    """For POSTPONE: when to look again."""


def diagnose(job: Job | None, now: int, timings: Timings, expected_wait_ms: int | None) -> Diagnosis:
    """Decides from a consistent read, never from the index that named the row.

    `expected_wait_ms` is what the backlog itself explains: such a job has not lost its message. None is a
    backlog in which no job runs from its first message, which explains any wait.
    """
    if job is None or job.next_check_at is None or job.next_check_at > now:
        return Diagnosis(Treatment.NONE)
    if job.is_deleted:
        return Diagnosis(Treatment.PURGE)
    if not job.is_open:
        return Diagnosis(Treatment.RETIRE)
    if job.has_live_lease(now, timings.skew_seconds):
        return Diagnosis(Treatment.POSTPONE, dead_from(job.lease_expires_at or now, timings))
    if job.attempts >= timings.attempt_cap:
        return Diagnosis(Treatment.EXHAUST)
    if job.deadline_at < now:
        return Diagnosis(Treatment.EXPIRE)
    if job.status is Status.RUNNING:
        return _of_dead_lease(job, now, timings)
    return _of_queued(job, now, timings, expected_wait_ms)


def _of_dead_lease(job: Job, now: int, timings: Timings) -> Diagnosis:
    """The queue's own redelivery has its turn first: it costs no write and no duplicate."""
    rescue_at = dead_from(job.lease_expires_at or now, timings) + timings.rescue_patience_seconds * 1000
    if rescue_at > now:
        return Diagnosis(Treatment.POSTPONE, by_deadline(rescue_at, job.deadline_at))
    return Diagnosis(Treatment.RESCUE)


def _of_queued(job: Job, now: int, timings: Timings, expected_wait_ms: int | None) -> Diagnosis:
    patience_ms = timings.queued_patience_seconds * 1000
    if expected_wait_ms is None:
        return Diagnosis(Treatment.POSTPONE, by_deadline(now + patience_ms, job.deadline_at))
    lost_at = job.available_at + max(patience_ms, 2 * expected_wait_ms)
    if lost_at > now:
        return Diagnosis(Treatment.POSTPONE, by_deadline(lost_at, job.deadline_at))
    return Diagnosis(Treatment.REPUBLISH)
