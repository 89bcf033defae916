"""List an owner's jobs, newest first, page by page."""

from __future__ import annotations

from thumbline.domain.job import Status
from thumbline.domain.listing import JobPage, JobSummary
from thumbline.ports.listing import OwnerIndex

BATCH = 100
MAX_BATCHES = 10
"""A rare status must not make one request read an owner's whole history: the page then ends early, with a
cursor."""


def list_jobs(
    owner: str, index: OwnerIndex, *, status: Status | None, before: str | None, limit: int
) -> JobPage:
    """Up to `limit` jobs of the status, deleted ones left out; a page may be short and yet not the last.

    Raises DependencyUnavailableError.
    """
    found: list[JobSummary] = []
    for _ in range(MAX_BATCHES):
        batch = index.newest(owner, before=before, limit=BATCH)
        for summary in batch:
            if len(found) == limit:
                return JobPage(found, before)
            before = summary.job_id
            if not summary.is_deleted and status in (None, summary.status):
                found.append(summary)
        if len(batch) < BATCH:
            return JobPage(found, None)
    return JobPage(found, before)
