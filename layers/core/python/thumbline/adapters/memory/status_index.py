"""Jobs by status in memory."""

from __future__ import annotations

from collections.abc import Iterator

from thumbline.adapters.memory.faults import Boundary, Faults
from thumbline.adapters.memory.jobs import DEPENDENCY, MemoryTables
from thumbline.domain.job import Status
from thumbline.domain.listing import JobSummary


class MemoryStatusIndex:
    """Reads the twin's rows; unlike DynamoDB's index it never lags."""

    def __init__(self, tables: MemoryTables, faults: Boundary | None = None) -> None:
        self._tables = tables
        self._faults: Boundary = faults or Faults()

    def with_status(self, status: Status) -> Iterator[JobSummary]:
        with self._faults.around(DEPENDENCY, "with_status"):
            rows = [row for row in self._tables.rows.values() if row["status"] == status]
        for row in rows:
            yield JobSummary(
                job_id=row["job_id"],
                status=Status(row["status"]),
                created_at=row["created_at"],
                finished_at=row.get("finished_at"),
                deleted_at=row.get("deleted_at"),
            )
