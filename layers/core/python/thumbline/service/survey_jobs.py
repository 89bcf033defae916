"""Every owner's jobs, for an operator: the newest of a status, and the failed ones for a redrive."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Job, Status
from thumbline.domain.listing import JobSummary
from thumbline.ports.jobs import JobReader
from thumbline.ports.status_index import StatusIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedJobs:
    """Jobs that failed with this code, and until `failed_until` (epoch milliseconds) where that is set."""

    code: FailureCode
    failed_until: int | None = None


def newest_with_status(status: Status, index: StatusIndex, limit: int) -> list[JobSummary]:
    """Newest first. Raises DependencyUnavailableError."""
    return heapq.nlargest(limit, index.with_status(status), key=lambda summary: summary.job_id)


def select_failed(wanted: FailedJobs, index: StatusIndex, jobs: JobReader) -> Iterator[Job]:
    """The index only names candidates; each is read before it counts. Raises DependencyUnavailableError."""
    for summary in index.with_status(Status.FAILED):
        if not _in_time(summary.finished_at, wanted.failed_until):
            continue
        job = jobs.get(summary.job_id)
        if job is not None and _is_wanted(job, wanted):
            yield job


def _is_wanted(job: Job, wanted: FailedJobs) -> bool:
    return (
        job.status is Status.FAILED
        and not job.is_deleted
        and job.failure is not None
        and job.failure.code is wanted.code
        and _in_time(job.finished_at, wanted.failed_until)
    )


def _in_time(finished_at: int | None, failed_until: int | None) -> bool:
    return failed_until is None or (finished_at is not None and finished_at <= failed_until)
