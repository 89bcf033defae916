"""The two tables in memory, with the stream that the jobs table feeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thumbline.adapters.memory.due_index import MemoryDueIndex
from thumbline.adapters.memory.faults import Boundary, Faults
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Job
from thumbline.domain.row import Row, holds
from thumbline.domain.schema import JOBS_KEY
from thumbline.domain.snapshot import Snapshot
from thumbline.domain.transition import Transition, apply

DEPENDENCY = "dynamodb"


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A change of one row, old and new image; None where the row did not or does not exist."""

    sequence_number: str
    old: Row | None
    new: Row | None


class MemoryTables:
    """Behaves as DynamoDB does for the ports JobStore and AcceptanceStore. Safe from several threads.

    `on_change` sees every stream record as it is written.
    """

    def __init__(
        self,
        faults: Boundary | None = None,
        *,
        index: MemoryDueIndex | None = None,
        on_change: Callable[[StreamRecord], None] | None = None,
    ) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.snapshot: Snapshot | None = None
        self.records: dict[str, IdempotencyRecord] = {}
        self.stream: list[StreamRecord] = []
        self._faults: Boundary = faults or Faults()
        self._index = index or MemoryDueIndex()
        self._on_change = on_change
        self._written = 0
        self._lock = threading.RLock()

    def put_row(self, row: Row) -> None:
        """Puts a row as it is, past every condition and fault: what a test or another version left there."""
        with self._lock:
            self._put(row[JOBS_KEY], self.rows.get(row[JOBS_KEY]), dict(row))

    def get(self, job_id: str) -> Job | None:
        with self._faults.around(DEPENDENCY, "get"), self._lock:
            row = self.rows.get(job_id)
        return None if row is None else Job.from_row(row)

    def apply(self, job_id: str, transition: Transition) -> Job:
        with self._faults.around(DEPENDENCY, transition.name), self._lock:
            old = self.rows.get(job_id)
            new = apply(transition, old)
            self._put(job_id, old, new)
        return Job.from_row(new)

    def purge(self, job_id: str, transition: Transition) -> bool:
        with self._faults.around(DEPENDENCY, transition.name), self._lock:
            old = self.rows.get(job_id)
            if old is None or not holds(transition.condition, old):
                return False
            self._put(job_id, old, None)
        return True

    def due(self, shard: str, now: int, limit: int) -> Sequence[str]:
        with self._faults.around(DEPENDENCY, "due"), self._lock:
            return self._index.between(shard, 0, now, limit)

    def upcoming(self, shard: str, now: int, until: int, limit: int) -> Sequence[str]:
        with self._faults.around(DEPENDENCY, "upcoming"), self._lock:
            return self._index.between(shard, now + 1, until, limit)

    def read_snapshot(self) -> Snapshot | None:
        with self._faults.around(DEPENDENCY, "read_snapshot"), self._lock:
            return self.snapshot

    def write_snapshot(self, snapshot: Snapshot) -> None:
        with self._faults.around(DEPENDENCY, "write_snapshot"), self._lock:
            self.snapshot = snapshot

    def find_record(self, record_id: str) -> IdempotencyRecord | None:
        with self._faults.around(DEPENDENCY, "find_record"), self._lock:
            return self.records.get(record_id)

    def accept(self, job: Job, record: IdempotencyRecord) -> IdempotencyRecord | None:
        with self._faults.around(DEPENDENCY, "accept"), self._lock:
            holder = self.records.get(record.record_id)
            if holder is not None and holder.is_live(job.created_at):
                return None if holder.job_id == job.job_id else holder
            self.records[record.record_id] = record
            self._put(job.job_id, self.rows.get(job.job_id), job.to_row())
        return None

    def _put(self, job_id: str, old: Mapping[str, Any] | None, new: dict[str, Any] | None) -> None:
        """An identical put emits no stream record."""
        if new is None:
            self.rows.pop(job_id, None)
        else:
            self.rows[job_id] = new
        if new == old:
            return
        self._index.change(old, new)
        self._written += 1
        record = StreamRecord(f"{self._written:021d}", old, new)
        self.stream.append(record)
        if self._on_change is not None:
            self._on_change(record)
