"""Looking through the dead-letter queue without keeping its copies from others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.job import Job, Status
from thumbline.ports.jobs import JobReader
from thumbline.ports.queue import (
    Backlog,
    MessageReceiver,
    ReceivedMessage,
    VisibilityChange,
    VisibilityControl,
)


class DeadLetterQueue(MessageReceiver, VisibilityControl, Backlog, Protocol):
    """The operator's view of the dead-letter queue."""


def browse(queue: DeadLetterQueue, limit: int, goes: Callable[[ReceivedMessage], bool]) -> None:
    """Shows each of up to `limit` copies to `goes` once and deletes those for which it is true.

    Each look costs a copy one receive. All others are visible again when this ends, also by an error. Raises
    DependencyUnavailableError.
    """
    seen: set[str] = set()
    kept: dict[str, VisibilityChange] = {}
    try:
        while len(seen) < limit:
            deliveries = queue.receive(limit - len(seen))
            kept |= {one.message_id: VisibilityChange(one.receipt_handle, 0) for one in deliveries}
            fresh = [one for one in deliveries if one.message_id not in seen]
            if not fresh:
                return
            for copy in fresh:
                seen.add(copy.message_id)
                if goes(copy):
                    queue.delete(copy.receipt_handle)
                    del kept[copy.message_id]
    finally:
        queue.change_visibility(list(kept.values()))


def list_dead_letters(queue: DeadLetterQueue, limit: int) -> list[ReceivedMessage]:
    """Raises DependencyUnavailableError."""
    found: list[ReceivedMessage] = []

    def note(copy: ReceivedMessage) -> bool:
        found.append(copy)
        return False

    browse(queue, limit, note)
    return found


def discard_dead_letters(names: set[str], queue: DeadLetterQueue, limit: int) -> list[ReceivedMessage]:
    """Deletes the copies that a message id or a job id in `names` stands for, and returns them.

    The rows stay FAILED. Raises DependencyUnavailableError.
    """
    gone: list[ReceivedMessage] = []

    def is_named(copy: ReceivedMessage) -> bool:
        if not names & names_of(copy):
            return False
        gone.append(copy)
        return True

    browse(queue, limit, is_named)
    return gone


def remove_spent_copies(job_ids: set[str], queue: DeadLetterQueue, jobs: JobReader, limit: int) -> int:
    """Deletes the copies that speak of a life which is over; how many there were.

    Those of any exhausted job: a redrive that was interrupted left its own. Copies without a generation, of
    messages that nobody understood, go only with these jobs: a person may not have looked at the others.
    Raises DependencyUnavailableError.
    """
    spent = 0

    def is_spent(copy: ReceivedMessage) -> bool:
        nonlocal spent
        letter = DeadLetter.read(copy.body, copy.attributes)
        is_meant = letter.job_id in job_ids or letter.generation is not None
        if letter.job_id is None or not is_meant or not _is_over(letter, jobs.get(letter.job_id)):
            return False
        spent += 1
        return True

    browse(queue, limit, is_spent)
    return spent


def names_of(copy: ReceivedMessage) -> set[str]:
    """What a person may call a copy: its message id, or the id of the job that it speaks of."""
    job_id = DeadLetter.read(copy.body, copy.attributes).job_id
    return {copy.message_id} | ({job_id} if job_id is not None else set())


def _is_over(letter: DeadLetter, job: Job | None) -> bool:
    """A redrive by this copy would be refused."""
    if job is None or job.is_deleted or job.status is not Status.FAILED:
        return True
    return letter.generation is not None and letter.generation != job.generation
