"""What a worker does with records that it has no time to begin."""

from __future__ import annotations

import pytest

from tests.world import World, outcomes
from thumbline.service.worker import Outcome
from tools.chaos.universe import VISIBILITY_SECONDS


@pytest.fixture
def world() -> World:
    return World()


def test_the_worker_stops_taking_records_near_its_time_out(world: World) -> None:
    """S46: what is left is reported, not begun."""
    for number in range(3):
        world.queued(b"%d" % number, f"{number}")
    times = iter([120.0, 120.0, 24.0, 24.0, 24.0])
    world.remaining_seconds = lambda: next(times, 24.0)
    report = world.work()
    assert outcomes(report) == [Outcome.SUCCEEDED, Outcome.UNSTARTED, Outcome.UNSTARTED]
    assert len(report.unacknowledged) == 2


def test_what_is_not_begun_is_another_workers_at_once(world: World) -> None:
    for number in range(3):
        world.queued(b"%d" % number, f"{number}")
    times = iter([120.0, 120.0, 24.0, 24.0, 24.0])
    world.remaining_seconds = lambda: next(times, 24.0)
    world.work()
    world.remaining_seconds = lambda: 120.0
    assert outcomes(world.work()) == [Outcome.SUCCEEDED, Outcome.SUCCEEDED]


def test_what_nobody_could_claim_keeps_the_queues_own_timer(world: World) -> None:
    """Short timers would only burn receives."""
    for number in range(2):
        world.queued(b"%d" % number, f"{number}")
    world.remaining_seconds = lambda: 24.0
    assert outcomes(world.work()) == [Outcome.UNSTARTED, Outcome.UNSTARTED]
    world.clock.advance(VISIBILITY_SECONDS - 1)
    assert not world.work().processed
    world.clock.advance(1)
    assert len(world.work().processed) == 2
