"""What keeps an open job going without the reconciler's scan: its messages, and what the stream owes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thumbline.adapters.memory.jobs import MemoryTables, StreamRecord
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.adapters.memory.stream_mapping import MemoryStreamMapping
from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.errors import FailureCode
from thumbline.domain.messages import BadMessageError, parse_request
from thumbline.domain.relay_failures import parse_lost_batch
from thumbline.domain.row import Row
from thumbline.domain.schema import JOBS_KEY

Life = tuple[str, int]
"""A job's id and its generation."""


def job_named_by(body: str) -> str | None:
    """None for a body that names none: it waits for a person, wherever it lies."""
    try:
        return parse_request(body).job_id
    except BadMessageError as error:
        return error.job_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Debts:
    tables: MemoryTables
    work_queue: MemoryQueue
    undelivered: MemoryQueue
    dead_letters: MemoryQueue
    relay_failures: MemoryQueue
    mappings: Sequence[MemoryStreamMapping]

    def kept_going(self, *, without: str | None = None) -> set[str]:
        """Jobs with a message, other than the one with the id `without`, or with a publish owed."""
        named = {
            job_named_by(stored.message.body)
            for queue in (self.work_queue, self.undelivered)
            for stored in queue.messages.values()
            if stored.message_id != without
        }
        owed = {image[JOBS_KEY] for image in self._owing_images() if image["status"] == "QUEUED"}
        return owed | {job_id for job_id in named if job_id is not None}

    def copied(self) -> set[Life]:
        """Lives whose annotated copy exists or is owed."""
        letters = [letter for letter in self.letters() if letter.code == FailureCode.ATTEMPTS_EXHAUSTED]
        found = {
            (letter.job_id, letter.generation)
            for letter in letters
            if letter.job_id is not None and letter.generation is not None
        }
        return found | {
            (image[JOBS_KEY], image["generation"])
            for image in self._owing_images()
            if image["status"] == "FAILED"
        }

    def letters(self) -> Iterator[DeadLetter]:
        for stored in self.dead_letters.messages.values():
            attributes = {name: str(value) for name, value in stored.message.attributes.items()}
            yield DeadLetter.read(stored.message.body, attributes)

    def unpaid(self) -> str:
        """What is left that drains by itself; empty where nothing is."""
        records = sum(len(mapping.pending) for mapping in self.mappings)
        undelivered = sum(
            job_named_by(stored.message.body) is not None for stored in self.undelivered.messages.values()
        )
        left = {
            "messages": len(self.work_queue.messages),
            "undelivered messages": undelivered,
            "stream records": records,
            "relay failures": len(self.relay_failures.messages),
        }
        return ", ".join(f"{count} {name}" for name, count in left.items() if count)

    def _owing_images(self) -> Iterator[Row]:
        """New images of records that still wait for the relay, or that it gave up on and whose row has come
        to owe nothing newer."""
        for mapping in self.mappings:
            for _, record in mapping.pending:
                if record.new is not None and _owes(record):
                    yield record.new
        for stored in self.relay_failures.messages.values():
            lost = parse_lost_batch(stored.message.body)
            assert lost is not None
            first, last = int(lost.first_sequence_number), int(lost.last_sequence_number)
            # The tables number their records from 1, without a hole.
            for record in self.tables.stream[first - 1 : last]:
                if record.new is not None and _owes(record) and self._is_unpaid(record.new):
                    yield record.new

    def _is_unpaid(self, image: Row) -> bool:
        row = self.tables.rows.get(image[JOBS_KEY])
        return row is not None and row["outbox_seq"] == image["outbox_seq"]


def _owes(record: StreamRecord) -> bool:
    return record.old is None or (
        record.new is not None and record.new["outbox_seq"] != record.old["outbox_seq"]
    )
