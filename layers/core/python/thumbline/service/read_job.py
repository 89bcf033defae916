"""What a client may know of its job: read from the table, never from a queue."""

from __future__ import annotations

from thumbline.domain.errors import ThumblineError
from thumbline.domain.job import Job, Result, Status
from thumbline.domain.keys import is_job_id
from thumbline.ports.jobs import JobReader


class JobNotFoundError(ThumblineError):
    """No such job, or another owner's: the two look the same."""


class JobGoneError(ThumblineError):
    """The job was deleted, or its retention is over."""


class ThumbnailNotReadyError(ThumblineError):
    """The job has no thumbnails yet, or failed."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"{job.job_id} is {job.status}")
        self.job = job


class UnknownPresetError(ThumblineError):
    """The job does not owe a thumbnail of this preset."""


def read_job(job_id: str, owner: str, jobs: JobReader) -> Job:
    """Raises JobNotFoundError, JobGoneError and DependencyUnavailableError."""
    job = jobs.get(job_id) if is_job_id(job_id) else None
    if job is None or job.owner != owner:
        raise JobNotFoundError(job_id)
    if job.is_deleted:
        raise JobGoneError(job_id)
    return job


def find_thumbnail(job_id: str, preset: str, owner: str, jobs: JobReader) -> Result:
    """The finished thumbnail as the row points at it.

    Raises what read_job raises, UnknownPresetError, and ThumbnailNotReadyError.
    """
    job = read_job(job_id, owner, jobs)
    if preset not in {owed.name for owed in job.presets}:
        raise UnknownPresetError(preset)
    if job.status is not Status.SUCCEEDED:
        raise ThumbnailNotReadyError(job)
    return job.results[preset]
