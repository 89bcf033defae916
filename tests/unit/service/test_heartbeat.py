"""Leases and visibility are extended together, and never against a decision that was already taken."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

import pytest

from infra.topology import Topology
from tests.world import World
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.patience import ATTEMPTING
from thumbline.domain.transition import Transition
from thumbline.domain.transitions.attempt import claim
from thumbline.ports.queue import VisibilityChange
from thumbline.service.heartbeat import Heartbeat
from thumbline.service.pulse import keep_beating
from tools.chaos.universe import TIMINGS

HELD_MS = (TIMINGS.lease_seconds + TIMINGS.skew_seconds + 2) * 1000


def heartbeat_of(world: World) -> Heartbeat:
    def remaining_seconds() -> float:
        return world.remaining_seconds()  # a test may change it later

    return Heartbeat(
        jobs=world.tables,
        queue=world.work_queue,
        clock=world.clock,
        ids=world.ids,
        timings=TIMINGS,
        remaining_seconds=remaining_seconds,
    )


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def heartbeat(world: World) -> Heartbeat:
    """Beats by hand: its thread is not started."""
    return heartbeat_of(world)


def claimed(world: World, job_id: str) -> Job:
    return world.tables.apply(job_id, claim(job_id, world.moment()))


def visible_in(world: World) -> list[int]:
    return [stored.visible_at - world.clock.now() for stored in world.work_queue.messages.values()]


def test_a_beat_extends_the_lease_and_every_held_message(world: World, heartbeat: Heartbeat) -> None:
    first = world.queued(b"1", "1")
    world.queued(b"2", "2")
    heartbeat.hold([delivery.receipt_handle for delivery in world.work_queue.receive(2)])
    heartbeat.begin(claimed(world, first))
    assert visible_in(world) == [HELD_MS] * 2
    world.clock.advance(10)
    heartbeat.beat()
    assert visible_in(world) == [HELD_MS] * 2
    assert world.job(first).lease_expires_at == world.clock.now() + TIMINGS.lease_seconds * 1000
    assert not heartbeat.lost


@pytest.mark.parametrize(("late_seconds", "extended"), [(0, False), (9, False), (10, True), (24, True)])
def test_a_claim_that_is_heard_late_is_extended_at_once(
    world: World, heartbeat: Heartbeat, late_seconds: int, extended: bool
) -> None:
    job_id = world.queued()
    leased = claimed(world, job_id)
    world.clock.advance(late_seconds)
    heartbeat.begin(leased)
    lease = world.job(job_id).lease_expires_at
    assert leased.lease_expires_at is not None
    assert lease == leased.lease_expires_at + (late_seconds * 1000 if extended else 0)


def test_beats_begin_at_equal_distances_however_long_they_take() -> None:
    time_of = {"now": 100.0}
    begun: list[float] = []
    takes = iter([3.0, 0.0, 10.0, 14.0, 1.0, 0.0])

    def beat() -> None:
        begun.append(time_of["now"])
        time_of["now"] += next(takes)

    def is_over_after(seconds: float) -> bool:
        time_of["now"] += seconds
        return len(begun) == 6

    keep_beating(beat, 10, is_over_after, lambda: time_of["now"])

    assert begun == [110, 120, 130, 140, 154, 164]


@pytest.mark.parametrize(
    ("claim_seconds", "every_second_lost"), [(0, True), (ATTEMPTING.call_seconds, False)]
)
def test_a_live_lease_outlives_slow_calls(
    world: World, claim_seconds: float, every_second_lost: bool
) -> None:
    """Every call of a beat takes as long as its client waits, and every second write of the lease is lost."""
    call_seconds = Topology.beat_call_seconds
    job_id = world.queued()
    writes = itertools.count()

    class SlowJobs:
        def apply(self, job_id: str, transition: Transition) -> Job:
            world.clock.advance(call_seconds)
            lease = world.job(job_id).lease_expires_at
            assert lease is not None
            assert world.clock.now() < lease, "the lease of a live worker was over"
            if next(writes) % 2 == 0 and every_second_lost:
                raise DependencyUnavailableError("dynamodb", "ReadTimeoutError")
            return world.tables.apply(job_id, transition)

    class SlowQueue:
        def change_visibility(self, changes: Sequence[VisibilityChange]) -> Sequence[int]:
            world.clock.advance(call_seconds)
            return range(len(changes))

    slow = Heartbeat(
        jobs=SlowJobs(),  # type: ignore[arg-type]
        queue=SlowQueue(),
        clock=world.clock,
        ids=world.ids,
        timings=TIMINGS,
        remaining_seconds=lambda: 120,
    )
    slow.hold([world.work_queue.receive(1)[0].receipt_handle])
    leased = claimed(world, job_id)
    world.clock.advance(claim_seconds)
    slow.begin(leased)

    def is_over_after(seconds: float) -> bool:
        world.clock.advance(seconds)
        return next(beats) == 12

    beats = itertools.count()
    keep_beating(slow.beat, TIMINGS.heartbeat_seconds, is_over_after, lambda: world.clock.now() / 1000)

    assert next(writes) == 12
    assert not slow.lost


def test_nothing_is_shortened_before_the_first_claim(world: World, heartbeat: Heartbeat) -> None:
    world.queued()
    heartbeat.hold([delivery.receipt_handle for delivery in world.work_queue.receive(1)])
    heartbeat.beat()
    assert visible_in(world) == [720_000]


def test_a_finished_record_holds_its_message_only(world: World, heartbeat: Heartbeat) -> None:
    job_id = world.queued()
    heartbeat.hold([delivery.receipt_handle for delivery in world.work_queue.receive(1)])
    heartbeat.begin(claimed(world, job_id))
    assert heartbeat.end()
    before = world.tables.rows[job_id]
    world.clock.advance(10)
    heartbeat.beat()
    assert world.tables.rows[job_id] == before
    assert visible_in(world) == [HELD_MS]


def test_a_beat_never_overwrites_a_timer_that_was_set(world: World, heartbeat: Heartbeat) -> None:
    """A heartbeat that overwrites a backoff is trap 11 of the design."""
    job_id = world.queued()
    (delivery,) = world.work_queue.receive(1)
    heartbeat.hold([delivery.receipt_handle])
    heartbeat.begin(claimed(world, job_id))
    heartbeat.end()
    heartbeat.leave(delivery.receipt_handle)
    world.clock.advance(10)
    heartbeat.beat()
    assert visible_in(world) == [HELD_MS - 10_000]


def test_a_lost_lease_is_noticed_by_the_next_beat(world: World, heartbeat: Heartbeat) -> None:
    job_id = world.queued()
    heartbeat.begin(claimed(world, job_id))
    world.clock.advance(60)
    claimed(world, job_id)
    row = world.tables.rows[job_id]
    heartbeat.beat()
    assert heartbeat.lost
    assert not heartbeat.end()
    assert world.tables.rows[job_id] == row


@pytest.mark.parametrize("fault", list(Fault))
def test_a_beat_that_fails_does_not_lose_the_lease(world: World, heartbeat: Heartbeat, fault: Fault) -> None:
    """A live worker never abandons an attempt that it owns (I4)."""
    job_id = world.queued()
    heartbeat.begin(claimed(world, job_id))
    world.faults.plan("extend_lease", fault)
    world.clock.advance(10)
    heartbeat.beat()
    assert not heartbeat.lost
    heartbeat.beat()
    assert world.job(job_id).lease_expires_at == world.clock.now() + TIMINGS.lease_seconds * 1000


def test_beats_end_with_the_functions_time(world: World, heartbeat: Heartbeat) -> None:
    """S46: a stuck worker stops extending."""
    job_id = world.queued()
    heartbeat.begin(claimed(world, job_id))
    row = world.tables.rows[job_id]
    world.remaining_seconds = lambda: 0.0
    world.clock.advance(10)
    heartbeat.beat()
    assert world.tables.rows[job_id] == row


def test_the_thread_is_joined_even_when_the_batch_raises(world: World) -> None:
    def heartbeats() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "heartbeat"]

    def fail_inside() -> None:
        with heartbeat_of(world):
            assert len(heartbeats()) == 1
            raise KeyError("batch")

    with pytest.raises(KeyError, match="batch"):
        fail_inside()
    assert not heartbeats()
