"""A transition: one conditional update of one row, as data. Nothing else ever changes a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thumbline.domain.errors import ThumblineError
from thumbline.domain.job import Job, Status
from thumbline.domain.keys import Phase, shard_of
from thumbline.domain.row import (
    Absent,
    AllOf,
    Change,
    Compare,
    Condition,
    Differs,
    Remove,
    Row,
    Set,
    all_of,
    any_of,
    changed,
    holds,
)
from thumbline.domain.timings import Timings

TTL_BACKSTOP_SECONDS = 7 * 24 * 3600
"""TTL only removes what the reconciler should long have removed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When and under which id a transition is tried. A retry of the same transition carries the same id."""

    now: int
    """Epoch milliseconds on the caller's clock."""
    write_id: str
    timings: Timings

    def after(self, seconds: float) -> int:
        return self.now + round(seconds * 1000)

    @property
    def dead_before(self) -> int:
        """A lease that ended before this is over on every clock within the skew."""
        return self.now - self.timings.skew_seconds * 1000


@dataclass(frozen=True, slots=True)
class Transition:
    """`condition` and `changes` already include the write id's."""

    name: str
    write_id: str
    condition: AllOf
    changes: tuple[Change, ...]


class TransitionRefusedError(ThumblineError):
    """The row is not as the transition requires. `job` is the row as it is, or None where there is none."""

    def __init__(self, transition: Transition, job: Job | None) -> None:
        state = "no row" if job is None else f"{job.status} token {job.fencing_token}"
        super().__init__(f"{transition.name} refused: {state}")
        self.transition = transition
        self.job = job


def transition(name: str, moment: Moment, conditions: tuple[Condition, ...], *changes: Change) -> Transition:
    """Adds the write id to a rule: recorded by the change, and required to be new by the condition."""
    return Transition(
        name=name,
        write_id=moment.write_id,
        condition=all_of(*conditions, Differs("write_id", moment.write_id)),
        changes=(*changes, Set("write_id", moment.write_id)),
    )


def apply(transition: Transition, row: Row | None) -> dict[str, Any]:
    """The row after the transition.

    A row that already shows this write id is the transition's own work, answered too late to be heard:
    it counts as success. Raises TransitionRefusedError otherwise where the condition does not hold.
    """
    if row is not None and row.get("write_id") == transition.write_id:
        return dict(row)
    if row is None or not holds(transition.condition, row):
        raise TransitionRefusedError(transition, None if row is None else Job.from_row(row))
    return changed(row, transition.changes)


# The conditions that several rules share.


def is_queued() -> Condition:
    return Compare("status", "=", Status.QUEUED.value)


def is_running() -> Condition:
    return Compare("status", "=", Status.RUNNING.value)


def is_failed() -> Condition:
    return Compare("status", "=", Status.FAILED.value)


def is_open() -> Condition:
    return any_of(is_queued(), is_running())


def is_terminal() -> Condition:
    return any_of(is_failed(), Compare("status", "=", Status.SUCCEEDED.value))


def owned_by(token: int) -> tuple[Condition, ...]:
    """RUNNING and mine: what every write of an attempt after its claim requires."""
    return (is_running(), Compare("fencing_token", "=", token))


def has_dead_lease(moment: Moment) -> Condition:
    return all_of(is_running(), Compare("lease_expires_at", "<", moment.dead_before))


def open_without_live_lease(moment: Moment) -> Condition:
    return any_of(is_queued(), has_dead_lease(moment))


def not_deleted() -> Condition:
    return Absent("deleted_at")


# The changes that several rules share.


def check_at(job_id: str, phase: Phase, when: int) -> tuple[Change, ...]:
    """Puts the row into the due index; both keys together, or it would not appear there."""
    return (Set("next_check_at", when), Set("check_shard", shard_of(job_id, phase)))


def by_deadline(when: int, deadline_at: int) -> int:
    """No check waits past the deadline, so that an open job is expired on time."""
    return min(when, deadline_at + 1)


def finished(job_id: str, moment: Moment, status: Status) -> tuple[Change, ...]:
    """Every entry to a terminal state: no lease, and a due check at the end of retention."""
    return (
        Set("status", status.value),
        Set("finished_at", moment.now),
        Remove("lease_expires_at"),
        *_retained(job_id, moment),
    )


def _retained(job_id: str, moment: Moment) -> tuple[Change, ...]:
    days = moment.timings.retention_days
    if days == 0:
        return (Remove("next_check_at"), Remove("check_shard"), Remove("expires_at"))
    end = moment.after(days * 24 * 3600)
    return (*check_at(job_id, Phase.ENDED, end), Set("expires_at", end // 1000 + TTL_BACKSTOP_SECONDS))


def queued_again(job_id: str, moment: Moment, *, available_at: int, deadline_at: int) -> tuple[Change, ...]:
    """Every entry to QUEUED: nobody claims before `available_at`, and the reconciler counts from there."""
    lost_at = available_at + moment.timings.queued_patience_seconds * 1000
    return (
        Set("status", Status.QUEUED.value),
        Set("available_at", available_at),
        Set("republish_count", 0),
        Remove("lease_expires_at"),
        *check_at(job_id, Phase.QUEUED, by_deadline(lost_at, deadline_at)),
    )
