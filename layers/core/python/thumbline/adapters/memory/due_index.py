"""The index of due checks in memory. Reads are eventually consistent, as a global secondary index's are."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from thumbline.domain.row import Row
from thumbline.domain.schema import DUE_INDEX_SHARD, DUE_INDEX_TIME, JOBS_KEY

Entry = tuple[int, str]
"""When the check is due, and the job's id."""


def entry_of(row: Row | None) -> tuple[str, Entry] | None:
    """The shard and the entry; None for a row that the sparse index does not hold."""
    if row is None or DUE_INDEX_SHARD not in row or DUE_INDEX_TIME not in row:
        return None
    return row[DUE_INDEX_SHARD], (row[DUE_INDEX_TIME], row[JOBS_KEY])


@dataclass(slots=True)
class MemoryDueIndex:
    """`now` and `lag_ms` together say when a change becomes visible; by default at once."""

    now: Callable[[], int] = lambda: 0
    lag_ms: Callable[[], int] = lambda: 0
    _shards: dict[str, list[Entry]] = field(default_factory=dict)
    _waiting: deque[tuple[int, Row | None, Row | None]] = field(default_factory=deque)

    def change(self, old: Row | None, new: Row | None) -> None:
        """Changes become visible in the order in which they were made, each after its own lag at least."""
        self._waiting.append((self.now() + self.lag_ms(), old, new))

    def between(self, shard: str, first: int, last: int, limit: int) -> list[str]:
        """Ids whose check lies within, both ends included, the earliest first."""
        self._catch_up()
        entries = self._shards.get(shard, [])
        start = bisect_left(entries, (first, ""))
        found: list[str] = []
        for due_at, job_id in entries[start : start + limit]:
            if due_at > last:
                break
            found.append(job_id)
        return found

    def _catch_up(self) -> None:
        while self._waiting and self._waiting[0][0] <= self.now():
            _, old, new = self._waiting.popleft()
            before, after = entry_of(old), entry_of(new)
            if before == after:
                continue
            if before is not None:
                entries = self._shards[before[0]]
                del entries[bisect_left(entries, before[1])]
            if after is not None:
                insort(self._shards.setdefault(after[0], []), after[1])
