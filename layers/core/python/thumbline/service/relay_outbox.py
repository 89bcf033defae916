"""Publish what the jobs table's stream says is owed. The row is the truth; a duplicate is harmless."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thumbline.domain.dead_letters import owes_copy
from thumbline.domain.job import Job, Status
from thumbline.domain.messages import ImageProcessingRequested, OutgoingMessage, exhausted_copy
from thumbline.domain.retry import delay_seconds
from thumbline.domain.row import Row
from thumbline.ports.clock import Clock
from thumbline.ports.queue import MessageSender

ReadImages = Callable[[], tuple[Row | None, Row | None]]
"""Old and new image; reading them may raise on a record that nobody can decode."""


@dataclass(frozen=True, slots=True)
class OutboxRecord:
    sequence_number: str
    read_images: ReadImages


@dataclass(frozen=True, slots=True)
class RelayReport:
    """`failed` holds the sequence numbers, in stream order, of records that must come again."""

    published: int
    copied: int
    ignored: int
    failed: tuple[str, ...]
    errors: tuple[str, ...]


def relay_outbox(
    records: Sequence[OutboxRecord],
    *,
    work_queue: MessageSender,
    dead_letters: MessageSender,
    clock: Clock,
) -> RelayReport:
    """Sends every owed message and reads the confirmation of each; never raises for one bad record."""
    requests: list[tuple[str, OutgoingMessage]] = []
    copies: list[tuple[str, OutgoingMessage]] = []
    failed: set[str] = set()
    errors: list[str] = []
    for record in records:
        try:
            job = _job_that_owes(*record.read_images())
        except Exception as error:  # a poisoned record must not stop its neighbours
            failed.add(record.sequence_number)
            errors.append(f"{record.sequence_number}: {type(error).__name__}: {error}")
            continue
        if job is None:
            continue
        if job.status is Status.QUEUED:
            delay = delay_seconds(job.available_at, clock.now())
            body = ImageProcessingRequested.for_job(job).to_body()
            requests.append((record.sequence_number, OutgoingMessage(body, delay_seconds=delay)))
        else:
            copies.append((record.sequence_number, exhausted_copy(job)))
    for sender, owed in ((work_queue, requests), (dead_letters, copies)):
        unconfirmed = sender.send([message for _, message in owed]) if owed else ()
        failed.update(owed[position][0] for position in unconfirmed)
        errors.extend(f"{owed[position][0]}: the queue did not confirm" for position in unconfirmed)
    published = sum(sequence not in failed for sequence, _ in requests)
    copied = sum(sequence not in failed for sequence, _ in copies)
    return RelayReport(
        published=published,
        copied=copied,
        ignored=len(records) - published - copied - len(failed),
        failed=tuple(record.sequence_number for record in records if record.sequence_number in failed),
        errors=tuple(errors),
    )


def _job_that_owes(old: Row | None, new: Row | None) -> Job | None:
    """A publish is owed where `outbox_seq` moved: a QUEUED job its message, an exhausted one its copy."""
    if new is None or new.get("status") not in (Status.QUEUED, Status.FAILED):
        return None
    if old is not None and old.get("outbox_seq") == new.get("outbox_seq"):
        return None
    job = Job.from_row(new)
    if job.status is Status.FAILED and not owes_copy(job):
        return None
    return job
