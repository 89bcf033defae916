"""The index by owner in memory."""

from __future__ import annotations

from collections.abc import Sequence

from thumbline.adapters.memory.faults import Boundary, Faults
from thumbline.adapters.memory.jobs import DEPENDENCY, MemoryTables
from thumbline.domain.job import Status
from thumbline.domain.listing import JobSummary


class MemoryOwnerIndex:
    """Reads the twin's rows; unlike DynamoDB's index it never lags."""

    def __init__(self, tables: MemoryTables, faults: Boundary | None = None) -> None:
        self._tables = tables
        self._faults: Boundary = faults or Faults()

    def newest(self, owner: str, *, before: str | None, limit: int) -> Sequence[JobSummary]:
        with self._faults.around(DEPENDENCY, "newest"):
            found = sorted(
                (row for row in list(self._tables.rows.values()) if row["owner"] == owner),
                key=lambda row: str(row["job_id"]),
                reverse=True,
            )
        return [
            JobSummary(
                job_id=row["job_id"],
                status=Status(row["status"]),
                created_at=row["created_at"],
                finished_at=row.get("finished_at"),
                deleted_at=row.get("deleted_at"),
            )
            for row in found
            if before is None or row["job_id"] < before
        ][:limit]
