"""The job: one row, the only truth about one accepted picture.

Times are epoch milliseconds, but for `expires_at`, which DynamoDB's TTL wants in epoch seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Self

from thumbline.domain.errors import FailureCode
from thumbline.domain.keys import Phase, original_key, shard_of
from thumbline.domain.presets import Preset
from thumbline.domain.row import Row
from thumbline.domain.timings import Timings


class Status(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


OPEN = frozenset({Status.QUEUED, Status.RUNNING})
_CODES = frozenset(code.value for code in FailureCode)


def phase_of(status: Status) -> Phase:
    match status:
        case Status.QUEUED:
            return Phase.QUEUED
        case Status.RUNNING:
            return Phase.RUNNING
        case _:
            return Phase.ENDED


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the last attempt, or the job, did not succeed. `retryable`: may the client try again?"""

    code: FailureCode
    detail: str
    retryable: bool
    cause: FailureCode | None = None
    """The code of the last error that was recorded, where `code` says that the attempts ran out."""

    def to_record(self) -> dict[str, Any]:
        record = {"code": self.code.value, "detail": self.detail, "retryable": self.retryable}
        return record if self.cause is None else record | {"cause": self.cause.value}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """A code of a later version is read as `internal`, with its own name in the detail.

        Functions are not updated all at once, and a release may be rolled back. The row keeps what it has,
        until its job ends otherwise.
        """
        named = [str(record[name]) for name in ("code", "cause") if record.get(name) is not None]
        unknown = [f"{name!r}" for name in named if name not in _CODES]
        note = f" (recorded by a later version as {' and '.join(unknown)})" if unknown else ""
        cause = record.get("cause")
        return cls(
            code=_known_code(record["code"]),
            detail=record["detail"] + note,
            retryable=bool(record["retryable"]),
            cause=None if cause is None else _known_code(cause),
        )


def _known_code(text: str) -> FailureCode:
    return FailureCode(text) if text in _CODES else FailureCode.INTERNAL


@dataclass(frozen=True, slots=True)
class Result:
    """One finished thumbnail as the row points at it. Pixels, bytes, and the hex SHA-256 of the content.

    The rest describes the original: its type by content, its display size in pixels, its dominant colour as
    `#rrggbb`, a ThumbHash in base 64, and sentences for the client. Older rows lack it.
    """

    key: str
    sha256: str
    width: int
    height: int
    bytes: int
    type: str
    source_type: str | None = None
    source_width: int | None = None
    source_height: int | None = None
    dominant_colour: str | None = None
    placeholder: str | None = None
    notes: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        record = {f.name: getattr(self, f.name) for f in fields(self)}
        known = {name: value for name, value in record.items() if value is not None}
        return known | {"notes": list(self.notes)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Fields that a later version wrote are ignored: functions are not updated all at once."""
        values = {f.name: record[f.name] for f in fields(cls) if f.name in record}
        return cls(**values | {"notes": tuple(record.get("notes", ()))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A row, read. DESIGN section 4 has each attribute's meaning; `docs/architecture.md` the protocol."""

    job_id: str
    status: Status
    owner: str
    object_key: str
    content_type: str
    byte_length: int
    sha256: str
    presets: tuple[Preset, ...]
    created_at: int
    deadline_at: int
    available_at: int
    fencing_token: int
    attempts: int
    generation: int
    outbox_seq: int
    write_id: str
    republish_count: int
    next_check_at: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    lease_expires_at: int | None = None
    failure: Failure | None = None
    results: Mapping[str, Result] = field(default_factory=dict)
    trace: tuple[Mapping[str, Any], ...] = ()
    deleted_at: int | None = None
    expires_at: int | None = None

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    def has_live_lease(self, now: int, skew_seconds: int) -> bool:
        """A lease counts as live until every clock within the skew agrees that it is over."""
        return self.lease_expires_at is not None and self.lease_expires_at >= now - skew_seconds * 1000

    def to_row(self) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and value not in ((), {}):
                row[f.name] = value
        row["status"] = str(self.status)
        row["presets"] = [preset.to_record() for preset in self.presets]
        if self.next_check_at is not None:
            row["check_shard"] = shard_of(self.job_id, phase_of(self.status))
        if self.failure is not None:
            row["failure"] = self.failure.to_record()
        if self.results:
            row["results"] = {name: result.to_record() for name, result in self.results.items()}
        if self.trace:
            row["trace"] = [dict(entry) for entry in self.trace]
        return row

    @classmethod
    def from_row(cls, row: Row) -> Self:
        """Raises KeyError, TypeError or ValueError for a row that no version of this code wrote."""
        values = {f.name: row[f.name] for f in fields(cls) if f.name in row}
        values["status"] = Status(row["status"])
        values["presets"] = tuple(Preset.from_record(record) for record in row["presets"])
        if "failure" in row:
            values["failure"] = Failure.from_record(row["failure"])
        if "results" in row:
            values["results"] = {name: Result.from_record(record) for name, record in row["results"].items()}
        if "trace" in row:
            values["trace"] = tuple(row["trace"])
        return cls(**values)


def dead_from(lease_expires_at: int, timings: Timings) -> int:
    """The first moment at which the lease is over on every clock within the skew."""
    return lease_expires_at + timings.skew_seconds * 1000 + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What a client sent, described. `byte_length` in bytes; `sha256` in hex."""

    content_type: str
    byte_length: int
    sha256: str


def accepted_job(
    *,
    job_id: str,
    write_id: str,
    owner: str,
    original: Original,
    presets: tuple[Preset, ...],
    now: int,
    deadline_seconds: int,
    queued_patience_seconds: int,
) -> Job:
    """A new job as acceptance writes it: QUEUED, claimable now, its first publish owed."""
    deadline_at = now + deadline_seconds * 1000
    return Job(
        job_id=job_id,
        status=Status.QUEUED,
        owner=owner,
        object_key=original_key(job_id),
        content_type=original.content_type,
        byte_length=original.byte_length,
        sha256=original.sha256,
        presets=presets,
        created_at=now,
        deadline_at=deadline_at,
        available_at=now,
        fencing_token=0,
        attempts=0,
        generation=1,
        outbox_seq=1,
        write_id=write_id,
        republish_count=0,
        # No check waits past the deadline.
        next_check_at=min(now + queued_patience_seconds * 1000, deadline_at + 1),
    )
