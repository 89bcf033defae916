"""The relay on the twins."""

from __future__ import annotations

import json
from typing import NoReturn

import pytest

from tests.world import World, images_of, new_job, request_for
from thumbline.adapters.memory.faults import Fault
from thumbline.adapters.memory.jobs import StreamRecord
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure
from thumbline.domain.row import Row
from thumbline.domain.transitions.attempt import claim, release
from thumbline.domain.transitions.recovery import requeue
from thumbline.service.relay_outbox import OutboxRecord, relay_outbox


@pytest.fixture
def world() -> World:
    return World()


def test_an_accepted_job_is_published_once_as_a_small_pointer(world: World) -> None:
    """S4, S130."""
    job_id = world.submit(b"x" * 100_000).job_id
    report = world.relay()
    assert (report.published, report.copied, report.failed) == (1, 0, ())
    (stored,) = world.work_queue.messages.values()
    assert json.loads(stored.message.body) == {
        "schema_version": 1,
        "job_id": job_id,
        "object_key": f"originals/{job_id}",
    }
    assert len(stored.message.body) < 200


def test_only_a_moved_outbox_seq_is_published(world: World) -> None:
    """A release goes back to QUEUED on its own message, so nothing is owed."""
    job_id = world.queued()
    claimed = world.tables.apply(job_id, claim(job_id, world.moment()))
    failure = Failure(FailureCode.RENDER_CRASHED, "died", retryable=True)
    world.tables.apply(
        job_id,
        release(
            claimed,
            failure,
            available_at=world.clock.now(),
            give_attempt_back=False,
            moment=world.moment(),
        ),
    )
    report = world.relay()
    assert (report.published, report.ignored) == (0, 2)
    world.tables.apply(job_id, requeue(world.job(job_id), world.moment()))
    assert world.relay().published == 1


def test_a_message_does_not_arrive_before_its_job_may_be_claimed(world: World) -> None:
    job = new_job(world)
    row = {**job.to_row(), "available_at": world.clock.now() + 90_500}
    relay(world, StreamRecord("1", None, row))
    (stored,) = world.work_queue.messages.values()
    assert stored.message.delay_seconds == 91


def relay(world: World, *records: StreamRecord) -> tuple[str, ...]:
    report = relay_outbox(
        [OutboxRecord(record.sequence_number, images_of(record)) for record in records],
        work_queue=world.work_queue,
        dead_letters=world.dead_letters,
        clock=world.clock,
    )
    return report.failed


def test_each_unconfirmed_entry_is_reported_in_stream_order(world: World) -> None:
    """S26: `Failed[]` of a batch is read."""
    jobs = [new_job(world) for _ in range(4)]
    world.work_queue.refused_positions = {1, 3}
    failed = relay(world, *(StreamRecord(str(n), None, job.to_row()) for n, job in enumerate(jobs)))
    assert failed == ("1", "3")
    sent = [stored.message.body for stored in world.work_queue.messages.values()]
    assert sent == [request_for(jobs[0].job_id), request_for(jobs[2].job_id)]


def test_an_unreachable_queue_fails_every_record_and_raises_nothing(world: World) -> None:
    world.faults.plan("work_queue.send", Fault.REFUSED)
    jobs = [new_job(world) for _ in range(2)]
    failed = relay(world, *(StreamRecord(str(n), None, job.to_row()) for n, job in enumerate(jobs)))
    assert failed == ("0", "1")


def test_a_poisoned_record_does_not_lose_its_neighbours(world: World) -> None:
    def unreadable() -> NoReturn:
        raise ValueError("not a whole number")

    def of(row: Row) -> OutboxRecord:
        return OutboxRecord(f"n{row['job_id']}", lambda: (None, row))

    before, after = new_job(world).to_row(), new_job(world).to_row()
    poisoned = [OutboxRecord("p1", unreadable), OutboxRecord("p2", lambda: (None, {"status": "QUEUED"}))]
    report = relay_outbox(
        [of(before), *poisoned, of(after)],
        work_queue=world.work_queue,
        dead_letters=world.dead_letters,
        clock=world.clock,
    )
    assert report.failed == ("p1", "p2")
    assert report.published == len(world.work_queue.messages) == 2
    assert len(report.errors) == 2


@pytest.mark.parametrize("code", FailureCode)
def test_of_all_failures_an_exhausted_job_alone_is_copied_for_a_person(
    world: World, code: FailureCode
) -> None:
    old = new_job(world).to_row()
    failure = Failure(code, "why", retryable=True)
    new = old | {"status": "FAILED", "outbox_seq": 2, "failure": failure.to_record()}
    assert relay(world, StreamRecord("1", old, new)) == ()
    assert len(world.dead_letters.messages) == (code is FailureCode.ATTEMPTS_EXHAUSTED)
    assert not world.work_queue.messages


def test_what_is_no_job_is_ignored(world: World) -> None:
    snapshot = {"job_id": "snapshot", "backlog": 3}
    failed = relay(world, StreamRecord("1", None, snapshot), StreamRecord("2", new_job(world).to_row(), None))
    assert failed == ()
    assert not world.work_queue.messages
