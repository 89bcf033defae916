"""An operator gives a FAILED job another life. The row first; the stream publishes; the copy goes last."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.job import Job, Status
from thumbline.domain.timings import Timings
from thumbline.domain.transition import Moment, TransitionRefusedError
from thumbline.domain.transitions.redrive import redrive
from thumbline.ports.clock import Clock, Ids
from thumbline.ports.jobs import JobStore
from thumbline.ports.queue import MessageReceiver, ReceivedMessage


class Redriven(StrEnum):
    REDRIVEN = "redriven"
    STALE = "stale"
    """The copy speaks of a life that is over: the job is not failed, is deleted, or was redriven before."""
    MISSING = "missing"
    """No such job; nothing is left to redrive."""
    UNREADABLE = "unreadable"
    """The copy names no job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redriver:
    """What a redrive needs. `operator` is who it is done by, for the row's audit entry."""

    jobs: JobStore
    dead_letters: MessageReceiver
    clock: Clock
    ids: Ids
    timings: Timings
    operator: str


def redrive_job(job_id: str, redriver: Redriver) -> Redriven:
    """By id, whether or not a copy exists. Raises DependencyUnavailableError."""
    job = redriver.jobs.get(job_id)
    if job is None:
        return Redriven.MISSING
    return _redrive(job_id, job.generation, redriver)


def redrive_copy(copy: ReceivedMessage, redriver: Redriver) -> Redriven:
    """By a dead-letter copy, once: its generation must still be the row's.

    The copy is deleted after the row was written, and also where the row refused it: it can never be of use
    again. One that names no job stays. Raises DependencyUnavailableError; the copy is then still there.
    """
    letter = DeadLetter.read(copy.body, copy.attributes)
    if letter.job_id is None:
        return Redriven.UNREADABLE
    job = redriver.jobs.get(letter.job_id)
    if job is None:
        outcome = Redriven.MISSING
    else:
        outcome = _redrive(letter.job_id, _generation_of(letter, job), redriver)
    redriver.dead_letters.delete(copy.receipt_handle)
    return outcome


def _redrive(job_id: str, generation: int, redriver: Redriver) -> Redriven:
    moment = Moment(redriver.clock.now(), redriver.ids.write_id(), redriver.timings)
    try:
        redriver.jobs.apply(job_id, redrive(job_id, generation, operator=redriver.operator, moment=moment))
    except TransitionRefusedError:
        return Redriven.STALE
    return Redriven.REDRIVEN


def _generation_of(letter: DeadLetter, job: Job) -> int:
    """The copy of a message that was refused unread knows no generation: then the row's own counts."""
    if letter.generation is not None:
        return letter.generation
    return job.generation if job.status is Status.FAILED else 0
