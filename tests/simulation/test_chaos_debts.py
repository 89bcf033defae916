"""The chaos checker's own books: what counts as owed, and what does not."""

from __future__ import annotations

from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.jobs import MemoryTables, StreamRecord
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.adapters.memory.stream_mapping import MemoryStreamMapping
from thumbline.domain.keys import job_id, original_key
from thumbline.domain.messages import ImageProcessingRequested, OutgoingMessage
from tools.chaos.debts import Debts

JOB_ID = job_id(0, 1)


def record(number: int, old_seq: int | None, new_seq: int, status: str = "QUEUED") -> StreamRecord:
    old = None if old_seq is None else {"job_id": JOB_ID, "status": status, "outbox_seq": old_seq}
    new = {"job_id": JOB_ID, "status": status, "outbox_seq": new_seq, "generation": 1}
    return StreamRecord(f"{number:021d}", old, new)


def debts_of(*stream: StreamRecord, row_seq: int, given_up: tuple[int, int] | None) -> Debts:
    """One job whose whole stream waits for the relay, or of which the relay gave a stretch up."""
    clock = ManualClock()
    tables = MemoryTables()
    tables.rows[JOB_ID] = {"job_id": JOB_ID, "status": "QUEUED", "outbox_seq": row_seq, "generation": 1}
    tables.stream.extend(stream)
    queues = {
        name: MemoryQueue(clock, name)
        for name in ("work_queue", "undelivered", "dead_letters", "relay_failures")
    }
    mapping = MemoryStreamMapping(clock, queues["relay_failures"], retry_attempts=0)
    first, last = given_up or (1, len(stream))
    for one in stream[first - 1 : last]:
        mapping.append(one)
    while given_up is not None and mapping.pending:
        mapping.report(mapping.batch(), None)
    return Debts(tables=tables, mappings=[mapping], **queues)


def test_only_a_record_that_moved_the_outbox_keeps_a_job_going() -> None:
    assert debts_of(record(1, None, 1), row_seq=1, given_up=None).kept_going() == {JOB_ID}
    assert debts_of(record(1, 1, 2), row_seq=2, given_up=None).kept_going() == {JOB_ID}
    assert debts_of(record(1, 1, 1), row_seq=1, given_up=None).kept_going() == set()
    assert debts_of(record(1, 1, 2, "FAILED"), row_seq=2, given_up=None).kept_going() == set()


def test_only_a_relay_failure_that_covers_what_the_row_owes_keeps_it_going() -> None:
    stream = (record(1, None, 1), record(2, 1, 1), record(3, 1, 2))
    assert debts_of(*stream, row_seq=2, given_up=(3, 3)).kept_going() == {JOB_ID}
    assert debts_of(*stream, row_seq=2, given_up=(1, 2)).kept_going() == set()
    assert debts_of(*stream, row_seq=1, given_up=(2, 2)).kept_going() == set()


def test_a_message_keeps_its_job_going_but_not_while_it_is_acknowledged() -> None:
    debts = debts_of(row_seq=1, given_up=None)
    debts.work_queue.send([OutgoingMessage(ImageProcessingRequested(JOB_ID, original_key(JOB_ID)).to_body())])
    (delivery,) = debts.work_queue.receive(1)
    assert debts.kept_going() == {JOB_ID}
    assert debts.kept_going(without=delivery.message_id) == set()


def test_what_waits_for_a_person_is_not_unpaid() -> None:
    debts = debts_of(row_seq=1, given_up=None)
    debts.undelivered.send([OutgoingMessage("not JSON")])
    assert debts.unpaid() == ""
    debts.undelivered.send([OutgoingMessage(f'{{"schema_version": 9, "job_id": "{JOB_ID}"}}')])
    assert debts.unpaid() == "1 undelivered messages"
