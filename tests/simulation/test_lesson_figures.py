"""The lesson's figures about receiving, acknowledging and visibility, replayed on the twins."""

from __future__ import annotations

import pytest

from tests.simulation.crash_world import CrashWorld
from tests.world import World, outcomes
from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.queue import MemoryQueue, QueueHabits
from thumbline.domain.job import Status
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.retry import MAX_VISIBILITY_SECONDS
from thumbline.domain.transition import TransitionRefusedError
from thumbline.domain.transitions.attempt import claim, complete
from thumbline.ports.queue import ReceivedMessage, VisibilityChange
from thumbline.service.worker import Outcome
from tools.chaos.scheduler import ProcessKilledError
from tools.chaos.universe import TIMINGS

HELD_SECONDS = TIMINGS.lease_seconds + TIMINGS.skew_seconds + 2


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def queue(clock: ManualClock) -> MemoryQueue:
    """A queue as SQS creates it: 30 seconds of visibility (S32)."""
    queue = MemoryQueue(clock)
    queue.send([OutgoingMessage("one")])
    return queue


def receive(queue: MemoryQueue) -> ReceivedMessage:
    (delivery,) = queue.receive(1)
    return delivery


def die_at(world: World, event: str) -> None:
    def watch(seen: str) -> None:
        if seen == event:
            world.faults.watch = None
            raise ProcessKilledError(event)

    world.faults.watch = watch


def test_s9_receiving_alone_finishes_nothing() -> None:
    world = World()
    job_id = world.queued()
    for _ in range(3):
        world.work_queue.receive(1)
        world.clock.advance(720)
    assert world.job(job_id).status is Status.QUEUED


def test_s10_an_effect_without_an_ack_is_delivered_again() -> None:
    world = World()
    world.queued()
    die_at(world, "before work_queue.delete")
    with pytest.raises(ProcessKilledError):
        world.work()
    world.clock.advance(HELD_SECONDS)
    assert outcomes(world.work()) == [Outcome.SKIPPED]


def test_s13_the_eleven_steps() -> None:
    """Publish, confirm, deliver to A, put, row, crash; timer, deliver to B, read, SUCCEEDED: skip, ack."""
    world = World()
    job_id = world.submit().job_id
    assert world.relay().published == 1
    die_at(world, "after complete")
    with pytest.raises(ProcessKilledError):
        world.work()
    assert world.job(job_id).status is Status.SUCCEEDED
    assert not world.work_queue.receive(1)
    world.clock.advance(HELD_SECONDS)
    (line,) = world.work().processed
    assert (line.outcome, line.note) == (Outcome.SKIPPED, "already SUCCEEDED")
    assert not world.work_queue.messages
    assert len(world.renderer.rendered) == 1


@pytest.mark.parametrize("acks_first", [False, True])
def test_s17_ack_first_turns_a_crash_into_loss(acks_first: bool) -> None:
    """The negative control: the same crash after receive, and no reconciler in either case."""
    world = World()
    job_id = world.queued()
    deliveries = world.work_queue.receive(1)
    if acks_first:
        world.work_queue.delete(deliveries[0].receipt_handle)
    die_at(world, "after claim")
    with pytest.raises(ProcessKilledError):
        world.work_on(deliveries)
    world.clock.advance(3_600)
    world.work()
    assert world.job(job_id).status is (Status.RUNNING if acks_first else Status.SUCCEEDED)
    assert bool(world.work_queue.messages) is False


def test_s33_a_delete_before_the_timer_finishes(queue: MemoryQueue, clock: ManualClock) -> None:
    queue.delete(receive(queue).receipt_handle)
    clock.advance(MAX_VISIBILITY_SECONDS)
    assert not queue.receive(1)


def test_s34_after_the_timer_it_is_received_again(queue: MemoryQueue, clock: ManualClock) -> None:
    first = receive(queue)
    clock.advance(29)
    assert not queue.receive(1)
    clock.advance(1)
    second = receive(queue)
    assert (second.message_id, second.receive_count) == (first.message_id, first.receive_count + 1)
    assert second.receipt_handle != first.receipt_handle


def test_s35_a_message_returns_by_timer_or_on_purpose(queue: MemoryQueue, clock: ManualClock) -> None:
    delivery = receive(queue)
    assert (queue.depth().visible, queue.depth().in_flight) == (0, 1)
    queue.change_visibility([VisibilityChange(delivery.receipt_handle, 0)])
    assert (queue.depth().visible, queue.depth().in_flight) == (1, 0)
    receive(queue)
    clock.advance(30)
    assert (queue.depth().visible, queue.depth().in_flight) == (1, 0)


def test_s36_a_receive_too_many_goes_to_the_redrive_target(clock: ManualClock) -> None:
    target = MemoryQueue(clock, "target")
    queue = MemoryQueue(clock, max_receive_count=3, redrive_target=target)
    queue.send([OutgoingMessage("poison", {"code": "x"})])
    for expected in (1, 2, 3):
        assert receive(queue).receive_count == expected
        clock.advance(30)
    assert not queue.receive(1)
    moved = receive(target)
    assert (moved.body, dict(moved.attributes), moved.receive_count) == ("poison", {"code": "x"}, 1)


def test_s37_s38_two_workers_overlap_and_the_stale_write_is_refused() -> None:
    world = World()
    job_id = world.queued(b"slow")

    def overlap() -> None:
        del world.renderer.behaviours[b"slow"]
        world.clock.advance(HELD_SECONDS + 1)
        assert outcomes(world.work()) == [Outcome.SUCCEEDED]

    world.renderer.behaviours[b"slow"] = overlap
    assert outcomes(world.work()) == [Outcome.FENCED]
    job = world.job(job_id)
    assert (job.status, job.fencing_token) == (Status.SUCCEEDED, 2)
    with pytest.raises(TransitionRefusedError):
        world.tables.apply(job_id, complete(job_id, 1, {}, world.moment()))


@pytest.mark.parametrize("stale_delete_works", [0.0, 1.0])
def test_s39_work_longer_than_its_timer_is_delivered_twice(
    queue: MemoryQueue, clock: ManualClock, stale_delete_works: float
) -> None:
    """45 s of work under 30 s: the second delivery is at 30. Whether A's late delete takes is up to SQS."""
    queue.habits = QueueHabits(stale_delete_works=stale_delete_works)
    first = receive(queue)
    clock.advance(30)
    second = receive(queue)
    assert second.receive_count == 2
    clock.advance(15)
    queue.delete(first.receipt_handle)
    assert bool(queue.messages) is (stale_delete_works == 0)


def test_s40_with_extensions_it_is_delivered_once(queue: MemoryQueue, clock: ManualClock) -> None:
    delivery = receive(queue)
    extensions = 0
    for _ in range(4):
        clock.advance(10)
        extensions += not queue.change_visibility([VisibilityChange(delivery.receipt_handle, 30)])
        assert not queue.receive(1)
    clock.advance(5)
    queue.delete(delivery.receipt_handle)
    assert extensions == 4
    assert not queue.messages


def test_s41_a_timer_that_is_too_short_eats_capacity(queue: MemoryQueue, clock: ManualClock) -> None:
    """100 s of work under 30 s, nobody extends: four workers have it at once."""
    receives = 0
    for _ in range(10):
        receives += len(queue.receive(1))
        clock.advance(10)
    assert receives == 4


def test_s42_a_timer_that_is_too_long_delays_recovery(clock: ManualClock) -> None:
    """15 minutes of visibility, a crash at 2 s: 898 s until somebody else may begin."""
    queue = MemoryQueue(clock, visibility_seconds=900)
    queue.send([OutgoingMessage("one")])
    receive(queue)
    clock.advance(2)
    waited = 0
    while not queue.receive(1):
        clock.advance(1)
        waited += 1
    assert waited == 898


def test_s43_recovery_takes_a_lease_not_the_queues_timer() -> None:
    """The same crash here: the claim has shortened the timer to a lease and its margins."""
    world = World()
    world.queued()
    die_at(world, "before get_original")
    with pytest.raises(ProcessKilledError):
        world.work()
    waited = 0
    while not (processed := outcomes(world.work())):
        world.clock.advance(1)
        waited += 1
    assert processed == [Outcome.SUCCEEDED]
    assert waited == HELD_SECONDS


def test_s44_an_extension_counts_from_now(queue: MemoryQueue, clock: ManualClock) -> None:
    delivery = receive(queue)
    clock.advance(20)
    queue.change_visibility([VisibilityChange(delivery.receipt_handle, 30)])
    clock.advance(29)
    assert not queue.receive(1)
    clock.advance(1)
    assert queue.receive(1)


def test_s44_no_extension_passes_twelve_hours_since_the_first_receive(
    queue: MemoryQueue, clock: ManualClock
) -> None:
    handle = receive(queue).receipt_handle
    assert list(queue.change_visibility([VisibilityChange(handle, MAX_VISIBILITY_SECONDS)])) == []
    clock.advance(3_600)
    assert list(queue.change_visibility([VisibilityChange(handle, MAX_VISIBILITY_SECONDS - 3_600)])) == []
    assert list(queue.change_visibility([VisibilityChange(handle, MAX_VISIBILITY_SECONDS - 3_599)])) == [0]


def test_s45_a_crash_stops_the_heartbeat_and_one_window_later_it_is_delivered() -> None:
    world = CrashWorld()
    world.queued(b"slow")

    def beat_and_die() -> None:
        world.clock.advance(TIMINGS.heartbeat_seconds)
        world.pulse.beat()
        raise ProcessKilledError("in the middle")

    world.renderer.behaviours[b"slow"] = beat_and_die
    with pytest.raises(ProcessKilledError):
        world.work()
    del world.renderer.behaviours[b"slow"]
    world.clock.advance(HELD_SECONDS - 1)
    assert not world.work().processed
    world.clock.advance(1)
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]


def test_s46_a_stuck_worker_stops_extending_when_its_time_is_over() -> None:
    """Alive and beating, but past the function's time-out: the message comes back."""
    world = CrashWorld()
    world.queued(b"stuck")
    begun_at = world.clock.now()
    world.remaining_seconds = lambda: 120 - (world.clock.now() - begun_at) / 1000

    def hang() -> None:
        del world.renderer.behaviours[b"stuck"]
        for _ in range(20):
            world.clock.advance(TIMINGS.heartbeat_seconds)
            world.pulse.beat()
        world.remaining_seconds = lambda: 120.0
        assert outcomes(world.work()) == [Outcome.SUCCEEDED]
        world.remaining_seconds = lambda: 120 - (world.clock.now() - begun_at) / 1000

    world.renderer.behaviours[b"stuck"] = hang
    assert outcomes(world.work()) == [Outcome.FENCED]
    assert not world.work_queue.messages


def test_s47_only_the_newest_handle_extends(queue: MemoryQueue, clock: ManualClock) -> None:
    first = receive(queue)
    clock.advance(30)
    second = receive(queue)
    assert list(queue.change_visibility([VisibilityChange(first.receipt_handle, 600)])) == [0]
    assert list(queue.change_visibility([VisibilityChange(second.receipt_handle, 600)])) == []


def test_s48_an_old_handle_succeeds_and_the_message_comes_back_as_a_duplicate() -> None:
    world = World()
    job_id = world.queued()
    (stale,) = world.work_queue.receive(1)
    world.clock.advance(720)
    (fresh,) = world.work_queue.receive(1)
    assert outcomes(world.work_on([stale])) == [Outcome.SUCCEEDED]
    assert world.work_queue.messages
    assert outcomes(world.work_on([fresh])) == [Outcome.SKIPPED]
    assert not world.work_queue.messages
    assert world.job(job_id).attempts == 1


def test_a_claim_counts_before_any_byte_is_read() -> None:
    """A receive that is no claim costs no attempt; a claim that dies at once does."""
    world = World()
    job_id = world.queued()
    world.work_queue.receive(1)
    assert world.job(job_id).attempts == 0
    world.tables.apply(job_id, claim(job_id, world.moment()))
    assert world.job(job_id).attempts == 1
