"""The abstract row: what the protocol can tell apart, and one concrete row for each of them.

Times become choices: a lease is live or dead, a row is available or not yet, a deadline lies ahead or behind.
Numbers that only grow (token, sequence, re-publishes) are compared for "still the same" alone, so they are
normalized; whether somebody's copy of one is current is part of that somebody's own state.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure, Job, Original, Status, accepted_job, phase_of
from thumbline.domain.keys import job_id
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.domain.row import Row
from thumbline.domain.timings import Timings
from thumbline.domain.transition import check_at

NOW = 2_000_000_000_000
"""The true time, epoch milliseconds, at which every step happens."""
TIMINGS = Timings(
    lease_seconds=30,
    skew_seconds=5,
    heartbeat_seconds=10,
    attempt_cap=2,
    function_timeout_seconds=120,
    deadline_seconds=86_400,
    retention_days=365,
    queued_patience_seconds=300,
    rescue_patience_seconds=60,
    backoff_base_seconds=2,
    backoff_ceiling_seconds=300,
)
CLOCK = NOW + TIMINGS.skew_seconds * 1000
"""What everybody's clock shows: as fast as allowed. A slow clock only acts later, which waiting does too."""
LATER_MS = 1_000_000
"""Longer than any skew, lease or patience."""
AGES_MS = 10**10
"""Longer than any deadline or retention."""

JOB_ID = job_id(NOW - AGES_MS, 1)
MINE, OTHER = "mine", "other"
"""Write ids: of the transition that is being tried, and of any other."""
TOKEN, SEQUENCE, REPUBLISHED = 10, 10, 1


class Lease(StrEnum):
    NONE = "none"
    LIVE = "live"
    DEAD = "dead"


class Check(StrEnum):
    """When the row's due check may come: never, at any time, or once no worker of before can be left."""

    NEVER = "never"
    SOON = "soon"
    LATE = "late"


class AbstractRow(NamedTuple):
    status: Status
    attempts: int = 0
    generation: int = 1
    available: bool = True
    lease: Lease = Lease.NONE
    overdue: bool = False
    check: Check = Check.SOON
    exhausted: bool = False
    rejected: bool = False
    """Failed for a message that could not be understood."""
    results: bool = False
    expires: bool = False
    deleted: bool = False

    @property
    def is_open(self) -> bool:
        return self.status in (Status.QUEUED, Status.RUNNING)

    def __str__(self) -> str:
        parts = [f"{self.status} generation {self.generation}, attempts {self.attempts}"]
        parts += [f"lease {self.lease}"] if self.lease is not Lease.NONE else []
        parts += [] if self.available else ["not yet available"]
        parts += ["past its deadline"] if self.overdue else []
        parts += ["exhausted"] if self.exhausted else []
        parts += ["failed for a bad message"] if self.rejected else []
        parts += ["deleted"] if self.deleted else []
        return ", ".join(parts)


MaybeRow = AbstractRow | None
"""None: the row is gone."""

_BASE = accepted_job(
    job_id=JOB_ID,
    write_id=OTHER,
    owner="owner",
    original=Original(content_type="image/jpeg", byte_length=1, sha256="00" * 32),
    presets=(DEFAULT_PRESET,),
    now=NOW - AGES_MS,
    deadline_seconds=TIMINGS.deadline_seconds,
    queued_patience_seconds=TIMINGS.queued_patience_seconds,
).to_row()

_CHECK_TIMES = {Check.SOON: NOW, Check.LATE: NOW + AGES_MS}
_LEASE_TIMES = {Lease.LIVE: NOW, Lease.DEAD: NOW - AGES_MS}
_FAILURE = Failure(FailureCode.CORRUPT, "damaged", retryable=False)
_REJECTED = Failure(FailureCode.BAD_MESSAGE, "unreadable", retryable=True)
_EXHAUSTED = Failure(FailureCode.ATTEMPTS_EXHAUSTED, "tried", retryable=True)
_RESULTS = {
    DEFAULT_PRESET.name: {"key": "k", "sha256": "00", "width": 1, "height": 1, "bytes": 1, "type": "t"}
}


def concrete(row: AbstractRow) -> dict[str, Any]:
    """A row of the jobs table that the abstract one stands for; a terminal one is as old as it may be."""
    new = _BASE | {
        "status": row.status.value,
        "attempts": row.attempts,
        "generation": row.generation,
        "available_at": NOW - AGES_MS if row.available else NOW + LATER_MS,
        "deadline_at": NOW - 1 if row.overdue or not row.is_open else NOW + AGES_MS,
        "fencing_token": TOKEN,
        "outbox_seq": SEQUENCE,
        "republish_count": REPUBLISHED,
    }
    if row.check is Check.NEVER:
        del new["next_check_at"], new["check_shard"]
    else:
        changes = check_at(JOB_ID, phase_of(row.status), _CHECK_TIMES[row.check])
        new |= {change.attribute: change.value for change in changes}  # type: ignore[union-attr]
    if row.lease is not Lease.NONE:
        new["lease_expires_at"] = _LEASE_TIMES[row.lease]
    if row.status is Status.FAILED:
        failure = _EXHAUSTED if row.exhausted else _REJECTED if row.rejected else _FAILURE
        new["failure"] = failure.to_record()
    if row.results:
        new["results"] = _RESULTS
    if row.expires:
        new["expires_at"] = NOW // 1000
    if row.deleted:
        new["deleted_at"] = NOW - 1
    return new


def abstract(row: Row) -> AbstractRow:
    """What of a concrete row the protocol can tell apart from here on."""
    status = Status(row["status"])
    is_open = status in (Status.QUEUED, Status.RUNNING)
    deleted = "deleted_at" in row
    code = row["failure"]["code"] if status is Status.FAILED and not deleted else None
    return AbstractRow(
        status=status,
        attempts=0 if deleted or status is Status.SUCCEEDED else row["attempts"],
        generation=row["generation"],
        available=not is_open or row["available_at"] <= CLOCK + TIMINGS.skew_seconds * 1000,
        lease=lease_of(row),
        overdue=is_open and row["deadline_at"] < CLOCK,
        check=_check_of(row, is_open),
        exhausted=code == FailureCode.ATTEMPTS_EXHAUSTED,
        rejected=code == FailureCode.BAD_MESSAGE,
        results=status is Status.SUCCEEDED and "results" in row,
        expires="expires_at" in row,
        deleted=deleted,
    )


def lease_of(row: Row) -> Lease:
    expires_at = row.get("lease_expires_at")
    if expires_at is None:
        return Lease.NONE
    return Lease.LIVE if expires_at >= NOW else Lease.DEAD


def job_of(row: MaybeRow) -> Job | None:
    return None if row is None else Job.from_row(concrete(row))


def described_job(row: MaybeRow) -> Job:
    """The row's job; the accepted one where it is gone, since a writer need not know that."""
    return Job.from_row(concrete(ACCEPTED if row is None else row))


def _check_of(row: Row, is_open: bool) -> Check:
    due_at = row.get("next_check_at")
    if due_at is None or "check_shard" not in row:
        return Check.NEVER
    late = not is_open and due_at >= CLOCK + TIMINGS.function_timeout_seconds * 1000
    return Check.LATE if late else Check.SOON


ACCEPTED = AbstractRow(Status.QUEUED)


def passing_time(row: MaybeRow, *, deadline: bool) -> Iterator[tuple[str, AbstractRow, bool]]:
    """What time alone does: a label, the row after, and whether it is sure to come before the deadline."""
    if row is None:
        return
    if row.lease is Lease.LIVE:
        yield "the lease ends", row._replace(lease=Lease.DEAD), True
    if not row.available:
        yield "the backoff ends", row._replace(available=True), True
    if deadline and row.is_open and not row.overdue:
        yield "the deadline passes", row._replace(overdue=True), False
