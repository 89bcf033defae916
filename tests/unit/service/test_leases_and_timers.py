"""A batch beside its own heartbeat, which beats at the worst moments: no lease or timer of another moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.simulation.crash_world import CrashWorld
from tests.world import outcomes
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.job import Status
from thumbline.domain.transitions.attempt import claim
from thumbline.service.worker import Outcome
from tools.chaos.universe import TIMINGS

HELD_MS = (TIMINGS.lease_seconds + TIMINGS.skew_seconds + 2) * 1000


@pytest.fixture
def world() -> CrashWorld:
    """Its heartbeat beats when a test says so."""
    return CrashWorld()


def raising(error: Exception) -> Callable[[], None]:
    def behave() -> None:
        raise error

    return behave


def timers(world: CrashWorld) -> list[int]:
    """In how many milliseconds each message of the work queue is visible again, in the order of sending."""
    return [stored.visible_at - world.clock.now() for stored in world.work_queue.messages.values()]


def test_an_outage_is_waited_for_longer_each_time(world: CrashWorld) -> None:
    """The attempt is given back each time, so that only the deliveries can make the wait grow."""
    world.jitter = 1.0
    job_id = world.queued()
    waits = []
    for _ in range(11):
        world.faults.plan("get_original", Fault.REFUSED)
        assert outcomes(world.work()) == [Outcome.RELEASED]
        assert world.job(job_id).attempts == 0
        waits.append(world.job(job_id).available_at - world.clock.now())
        world.clock.advance(waits[-1] / 1000 + 1)
    assert waits == [1000 * seconds for seconds in (2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300)]


def test_a_released_message_sleeps_as_long_as_its_job(world: CrashWorld) -> None:
    """Sooner it would only be bounced, which spends its receives; much later nobody works on the job."""
    world.jitter = 1.0
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = raising(TransientError(FailureCode.RENDER_CRASHED, "died"))
    for expected_ms in (2_000, 4_000, 8_000, 16_000):
        assert outcomes(world.work()) == [Outcome.RELEASED]
        assert world.job(job_id).available_at == world.clock.now() + expected_ms
        (sleeps_ms,) = timers(world)
        assert expected_ms <= sleeps_ms <= expected_ms + 1_000
        world.clock.advance(sleeps_ms / 1000)


ENDINGS: dict[str, tuple[Exception | None, Outcome]] = {
    "complete": (None, Outcome.SUCCEEDED),
    "fail": (PermanentError(FailureCode.CORRUPT, "no picture"), Outcome.FAILED),
    "release": (TransientError(FailureCode.RENDER_CRASHED, "died"), Outcome.RELEASED),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_attempt_that_ends_is_not_extended_any_more(world: CrashWorld, ending: str) -> None:
    """From the last write on the lease is nobody's, and a beat would find it lost."""
    error, outcome = ENDINGS[ending]
    world.queued(b"picture")
    if error is not None:
        world.renderer.behaviours[b"picture"] = raising(error)
    extended: list[str] = []

    def beat_around_the_last_write(event: str) -> None:
        if event in (f"before {ending}", f"after {ending}"):
            world.pulse.beat()
        elif event == "before extend_lease":
            extended.append(event)

    world.faults.watch = beat_around_the_last_write
    assert outcomes(world.work()) == [outcome]
    assert not extended


def test_no_beat_moves_a_message_that_is_being_released(world: CrashWorld) -> None:
    """Whatever is written first, row or timer: the beat in between must not make the message sleep longer."""
    world.queued(b"bad", "1")
    world.queued(b"good", "2")
    world.renderer.behaviours[b"bad"] = raising(TransientError(FailureCode.RENDER_CRASHED, "died"))
    seen: list[list[int]] = []

    def beat(event: str) -> None:
        if event in ("before release", "after release"):
            world.clock.advance(1)
            world.pulse.beat()
            seen.append(timers(world))

    world.faults.watch = beat
    assert outcomes(world.work()) == [Outcome.RELEASED, Outcome.SUCCEEDED]
    assert seen == [[HELD_MS - 1_000, HELD_MS], [HELD_MS - 2_000, HELD_MS]]


def test_the_lease_of_a_record_that_broke_runs_out(world: CrashWorld) -> None:
    """A bug of ours: the record is not acknowledged, and its job must be claimable when it comes again."""
    job_id = world.queued(b"broken")
    world.send_to_work_queue("junk")
    world.renderer.behaviours[b"broken"] = raising(ZeroDivisionError("a bug of ours"))
    rows = []

    def beat_during_the_next_record(event: str) -> None:
        if event == "before dead_letters.send":
            rows.append(dict(world.tables.rows[job_id]))
            world.clock.advance(TIMINGS.heartbeat_seconds)
            world.pulse.beat()
            rows.append(dict(world.tables.rows[job_id]))

    world.faults.watch = beat_during_the_next_record
    assert outcomes(world.work()) == [Outcome.BROKEN, Outcome.REJECTED]
    assert rows[0] == rows[1]
    assert rows[0]["status"] == Status.RUNNING


def lost_by_a_beat(world: CrashWorld, job_id: str) -> Callable[[], None]:
    """The worker was frozen for longer than its lease, another one claimed, and the next beat notices."""

    def lose() -> None:
        world.clock.advance(TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1)
        world.tables.apply(job_id, claim(job_id, world.moment()))
        world.pulse.beat()

    return lose


def test_a_message_whose_lease_was_lost_is_not_held_any_more(world: CrashWorld) -> None:
    """It belongs to whoever owns the job now; held by us, the death of that worker would be noticed late."""
    first = world.queued(b"lost", "1")
    world.queued(b"next", "2")
    world.renderer.behaviours[b"lost"] = lost_by_a_beat(world, first)
    seen: list[list[int]] = []

    def beat() -> None:
        world.clock.advance(TIMINGS.heartbeat_seconds)
        world.pulse.beat()
        seen.append(timers(world))

    world.renderer.behaviours[b"next"] = beat
    assert outcomes(world.work()) == [Outcome.LOST, Outcome.SUCCEEDED]
    assert seen == [[HELD_MS - TIMINGS.heartbeat_seconds * 1000, HELD_MS]]


def test_a_lost_lease_is_the_loss_of_one_record(world: CrashWorld) -> None:
    """I4: a live worker never abandons an attempt that it owns, whatever befell the one before."""
    first, second = world.queued(b"lost", "1"), world.queued(b"next", "2")
    world.renderer.behaviours[b"lost"] = lost_by_a_beat(world, first)
    assert outcomes(world.work()) == [Outcome.LOST, Outcome.SUCCEEDED]
    assert world.job(second).attempts == 1
