"""A client deletes its job: gone at once for readers, then its objects, now and once more when it is safe."""

from __future__ import annotations

from dataclasses import dataclass

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.keys import original_key, thumbnails_prefix
from thumbline.domain.timings import Timings
from thumbline.domain.transition import Moment, TransitionRefusedError
from thumbline.domain.transitions.deletion import delete_open, delete_terminal
from thumbline.ports.clock import Clock, Ids
from thumbline.ports.jobs import JobStore
from thumbline.ports.objects import ObjectRemover
from thumbline.service.read_job import read_job

_TRIES = 5
"""A job that changes state between the read and the write is read again, but not for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What a delete needs from the outside."""

    jobs: JobStore
    objects: ObjectRemover
    clock: Clock
    ids: Ids
    timings: Timings


def delete_job(job_id: str, owner: str, deletion: Deletion) -> None:
    """Raises JobNotFoundError, JobGoneError where it was deleted before, and DependencyUnavailableError.

    A live attempt is taken away: its token no longer matches. Objects are removed here as a courtesy; the
    reconciler removes them again after any late worker, so a failure to do so now is no failure.
    """
    for _ in range(_TRIES):
        job = read_job(job_id, owner, deletion.jobs)
        try:
            _entomb(job, deletion)
        except TransitionRefusedError:
            continue
        _remove_objects(job, deletion)
        return
    raise DependencyUnavailableError("dynamodb", f"{job_id} kept changing")


def _entomb(job: Job, deletion: Deletion) -> None:
    moment = Moment(deletion.clock.now(), deletion.ids.write_id(), deletion.timings)
    transition = delete_open if job.is_open else delete_terminal
    deletion.jobs.apply(job.job_id, transition(job.job_id, moment))


def _remove_objects(job: Job, deletion: Deletion) -> None:
    try:
        deletion.objects.remove_all(thumbnails_prefix(job.job_id))
        deletion.objects.remove_all(original_key(job.job_id))
    except DependencyUnavailableError:
        return
