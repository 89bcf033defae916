"""Leases and visibility are extended together, and never against a decision that was already taken."""

from __future__ import annotations

import threading

import pytest

from tests.world import World
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.job import Job
from thumbline.domain.transitions.attempt import claim
from thumbline.service.heartbeat import Heartbeat
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
