"""A job as the owner index knows it: enough for a list, and it may lag behind the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thumbline.domain.job import OPEN, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """Times are epoch milliseconds."""

    job_id: str
    status: Status
    created_at: int
    finished_at: int | None = None
    deleted_at: int | None = None

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None


@dataclass(frozen=True, slots=True)
class JobPage:
    """`last` is the job to go on after; None at the end of the list."""

    jobs: Sequence[JobSummary]
    last: str | None
