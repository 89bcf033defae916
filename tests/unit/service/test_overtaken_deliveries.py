"""Deliveries whose row changes under their hands: between two looks, or while the attempt runs."""

from __future__ import annotations

import pytest

from tests.world import World, outcomes
from thumbline.domain.errors import FailureCode, TransientError
from thumbline.domain.job import Status
from thumbline.domain.transitions.attempt import claim, complete
from thumbline.domain.transitions.deletion import delete_open
from thumbline.service.worker import Outcome
from tools.chaos.universe import TIMINGS

DEAD_SECONDS = TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1
HELD_MS = (TIMINGS.lease_seconds + TIMINGS.skew_seconds + 2) * 1000


@pytest.fixture
def world() -> World:
    return World()


def test_a_lease_that_ends_between_the_claim_and_the_look_is_claimed_at_once(world: World) -> None:
    """The refusal is out of date by the time it is judged: another try, not another half minute."""
    job_id = world.queued()
    world.tables.apply(job_id, claim(job_id, world.moment()))

    def let_the_lease_end(event: str) -> None:
        if event == "after claim":
            world.faults.watch = None
            world.clock.advance(DEAD_SECONDS)

    world.faults.watch = let_the_lease_end
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]
    assert world.job(job_id).fencing_token == 2


def test_a_row_that_never_stands_still_is_left_for_later(world: World) -> None:
    """Each time the receiver finds the attempts spent, somebody else has another go at the job first."""
    job_id = world.queued()
    for _ in range(TIMINGS.attempt_cap):
        world.tables.apply(job_id, claim(job_id, world.moment()))
        world.clock.advance(DEAD_SECONDS)
    dead_since = world.job(job_id).lease_expires_at

    def keep_changing(event: str) -> None:
        if event == "before exhaust_abandoned":
            world.tables.rows[job_id] |= {"lease_expires_at": world.clock.now()}
        elif event == "after exhaust_abandoned":
            world.tables.rows[job_id] |= {"lease_expires_at": dead_since}

    world.faults.watch = keep_changing
    (line,) = world.work().processed
    assert (line.outcome, line.note) == (Outcome.BOUNCED, "the row kept changing")
    (message,) = world.work_queue.messages.values()
    assert message.visible_at == world.clock.now() + 1_000
    world.faults.watch = None
    world.clock.advance(1)
    assert outcomes(world.work()) == [Outcome.EXHAUSTED]


def test_a_release_that_came_too_late_sets_no_timer(world: World) -> None:
    """Another attempt owns the job, perhaps through this very message: it is not ours to put to sleep."""
    job_id = world.queued(b"late")
    begun_at = world.clock.now()

    def lose_and_fail() -> None:
        world.clock.advance(DEAD_SECONDS)
        world.tables.apply(job_id, claim(job_id, world.moment()))
        raise TransientError(FailureCode.RENDER_CRASHED, "died")

    world.renderer.behaviours[b"late"] = lose_and_fail
    report = world.work()
    assert (outcomes(report), len(report.unacknowledged)) == ([Outcome.LOST], 1)
    (message,) = world.work_queue.messages.values()
    assert message.visible_at == begun_at + HELD_MS
    assert world.job(job_id).status is Status.RUNNING


def test_a_release_of_a_job_that_was_deleted_meanwhile_is_acknowledged(world: World) -> None:
    job_id = world.queued(b"late")

    def delete_and_fail() -> None:
        world.tables.apply(job_id, delete_open(job_id, world.moment()))
        raise TransientError(FailureCode.RENDER_CRASHED, "died")

    world.renderer.behaviours[b"late"] = delete_and_fail
    assert outcomes(world.work()) == [Outcome.FENCED]
    assert not world.work_queue.messages


def test_a_row_that_is_gone_by_the_end_of_the_attempt_leaves_nothing_to_do(world: World) -> None:
    """Deleted, and purged before this late worker was done."""
    job_id = world.queued(b"late")

    def purge() -> None:
        del world.tables.rows[job_id]

    world.renderer.behaviours[b"late"] = purge
    assert outcomes(world.work()) == [Outcome.FENCED]
    assert not world.work_queue.messages
    assert job_id not in world.tables.rows


def test_a_completion_after_somebody_elses_is_acknowledged_and_changes_nothing(world: World) -> None:
    job_id = world.queued(b"late")

    def finish_first() -> None:
        world.clock.advance(DEAD_SECONDS)
        token = world.tables.apply(job_id, claim(job_id, world.moment())).fencing_token
        world.tables.apply(job_id, complete(job_id, token, {}, world.moment()))

    world.renderer.behaviours[b"late"] = finish_first
    assert outcomes(world.work()) == [Outcome.FENCED]
    assert not world.work_queue.messages
    assert (world.job(job_id).fencing_token, world.job(job_id).results) == (2, {})
