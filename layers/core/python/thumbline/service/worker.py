"""What a worker is made of, and what may become of one delivery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from thumbline.domain.presets import RenderLimits
from thumbline.domain.timings import Timings
from thumbline.ports.clock import Clock, Ids, Jitter
from thumbline.ports.jobs import JobStore
from thumbline.ports.objects import WorkerObjects
from thumbline.ports.queue import MessageSender, VisibilityControl
from thumbline.ports.renderer import Renderer
from thumbline.service.pulse import Pulse, ThreadPulse

FINISHING_SECONDS = 5
"""Kept back from the function's time-out for putting thumbnails and writing the row."""


class Outcome(StrEnum):
    """What became of one delivery."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    EXHAUSTED = "exhausted"
    EXPIRED = "expired"
    SKIPPED = "skipped"
    FENCED = "fenced"
    """The job was ended by another while this attempt ran, and the attempt's last write was refused."""
    REJECTED = "rejected"
    RELEASED = "released"
    BOUNCED = "bounced"
    LOST = "lost"
    """Another attempt owns the job now."""
    UNREADABLE = "unreadable"
    UNSTARTED = "unstarted"
    BROKEN = "broken"

    @property
    def acknowledged(self) -> bool:
        """Only where the row is known to be terminal, or a person has the message."""
        return self in _ACKNOWLEDGED


_ACKNOWLEDGED = frozenset(
    {
        Outcome.SUCCEEDED,
        Outcome.FAILED,
        Outcome.EXHAUSTED,
        Outcome.EXPIRED,
        Outcome.SKIPPED,
        Outcome.FENCED,
        Outcome.REJECTED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What a worker needs from the outside."""

    jobs: JobStore
    beating_jobs: JobStore
    """The same table, through a client that gives a call up before a lease is over; so is the queue below."""
    objects: WorkerObjects
    renderer: Renderer
    work_queue: VisibilityControl
    beating_queue: VisibilityControl
    dead_letters: MessageSender
    clock: Clock
    ids: Ids
    jitter: Jitter
    timings: Timings
    limits: RenderLimits
    new_pulse: Callable[[], Pulse] = ThreadPulse


@dataclass(frozen=True, slots=True)
class Processed:
    """One line of a batch's report. `note` says why where there is something to say."""

    message_id: str
    job_id: str | None
    outcome: Outcome
    note: str = ""
