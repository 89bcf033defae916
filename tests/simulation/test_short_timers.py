"""The lesson's failure of a visibility timeout shorter than the job, on a queue whose workers are naive."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.queue import MemoryQueue, QueueHabits
from thumbline.domain.messages import OutgoingMessage
from thumbline.ports.queue import ReceivedMessage, VisibilityChange

VISIBILITY_SECONDS = 30
WORK_SECONDS = 45
MAX_RECEIVE_COUNT = 3


@pytest.mark.parametrize("stale_delete_works", [0.0, 1.0])
def test_s121_a_job_that_was_done_is_quarantined_as_a_failure(stale_delete_works: float) -> None:
    """Receives at 0, 30 and 60 s, three at most. Whether the stale delete at 45 s takes is up to SQS."""
    clock = ManualClock()
    dead_letters = MemoryQueue(clock, "dead_letters")
    queue = MemoryQueue(
        clock,
        visibility_seconds=VISIBILITY_SECONDS,
        max_receive_count=MAX_RECEIVE_COUNT,
        redrive_target=dead_letters,
        habits=QueueHabits(stale_delete_works=stale_delete_works),
    )
    queue.send([OutgoingMessage("J")])
    counts = {}
    first: ReceivedMessage | None = None
    for second in range(0, 120, 15):
        for delivery in queue.receive(1):
            counts[second] = delivery.receive_count
            first = first or delivery
        if second == WORK_SECONDS:
            assert first is not None
            queue.delete(first.receipt_handle)
        clock.advance(15)

    if stale_delete_works:
        assert (counts, len(dead_letters.messages)) == ({0: 1, 30: 2}, 0)
    else:
        assert (counts, len(dead_letters.messages)) == ({0: 1, 30: 2, 60: 3}, 1)
    assert not queue.messages


@dataclass
class Busy:
    delivery: ReceivedMessage
    done_at: int
    extend_at: int


def run_fleet(*, work_seconds: int, extends: bool, workers: int = 12, minutes: int = 60) -> tuple[int, int]:
    """A job every five seconds; how often each was begun that was done, in percent, and the backlog left."""
    clock = ManualClock()
    queue = MemoryQueue(
        clock,
        visibility_seconds=VISIBILITY_SECONDS,
        max_receive_count=MAX_RECEIVE_COUNT,
        redrive_target=MemoryQueue(clock, "dead_letters"),
    )
    fleet: list[Busy] = []
    begun: Counter[str] = Counter()
    done: set[str] = set()
    for second in range(minutes * 60):
        if second % 5 == 0:
            queue.send([OutgoingMessage(str(second))])
        for busy in [busy for busy in fleet if busy.done_at <= second]:
            queue.delete(busy.delivery.receipt_handle)
            done.add(busy.delivery.body)
            fleet.remove(busy)
        for busy in fleet:
            if extends and busy.extend_at <= second:
                queue.change_visibility([VisibilityChange(busy.delivery.receipt_handle, VISIBILITY_SECONDS)])
                busy.extend_at = second + 10
        while len(fleet) < workers and (received := queue.receive(1)):
            begun[received[0].body] += 1
            fleet.append(Busy(received[0], second + work_seconds, second + 10))
        clock.advance(1)
    return 100 * sum(begun[job] for job in done) // len(done), queue.depth().visible


def test_s122_short_timers_multiply_the_work_until_the_fleet_is_too_small() -> None:
    """Twelve workers have room for 45 s of work every five seconds, once, and not three times."""
    assert run_fleet(work_seconds=25, extends=False) == (100, 0)
    assert run_fleet(work_seconds=45, extends=True) == (100, 0)
    times_in_percent, backlog = run_fleet(work_seconds=45, extends=False)
    assert 250 < times_in_percent <= 100 * MAX_RECEIVE_COUNT
    assert backlog > 300
    _, sooner = run_fleet(work_seconds=45, extends=False, minutes=30)
    assert backlog > 1.5 * sooner
