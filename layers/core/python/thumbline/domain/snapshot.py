"""What one pass of the reconciler tells the next one, and ingest: an item under a key that is no job's."""

from __future__ import annotations

from dataclasses import dataclass, fields
from statistics import median_high
from typing import Any, Self

from thumbline.domain.row import Row

SNAPSHOT_KEY = "snapshot"
"""Job ids begin with `img_`, and the item has no status: nothing else sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """`taken_at` in epoch milliseconds; a reader that finds it stale must not act on it."""

    taken_at: int
    backlog: int
    """Visible messages of the work queue."""
    orphans_seen_until: str
    """The last original's key that the orphan sweep has looked at."""
    expected_wait_ms: int | None = None
    """How long the jobs that start now have waited; None where there is a backlog and that is unknown."""
    oldest_open: str | None = None
    """The job that has been open longest, of those that ever needed a check."""
    oldest_queued: str | None = None
    """The job that has been QUEUED and available longest, of those that ever needed a check."""

    def to_row(self) -> dict[str, Any]:
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}

    @classmethod
    def from_row(cls, row: Row) -> Self:
        """Raises TypeError for a row of another shape."""
        return cls(**{f.name: row[f.name] for f in fields(cls) if f.name in row})


def expected_wait_ms(backlog: int, waits_ms: list[int]) -> int | None:
    """The median wait of the jobs that run now; None where there is a backlog and there are none.

    It needs no rate: a standard queue is roughly first in, first out, so a job that has waited twice as long
    as those that start now has lost its message. The median, because one job whose message was hidden for a
    whole visibility timeout says nothing about the others.
    """
    if backlog == 0:
        return 0
    return median_high(waits_ms) if waits_ms else None
