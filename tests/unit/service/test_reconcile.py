"""The reconciler's pass on the twins."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.world import World, lost_message, request_for
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Status
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.transitions.attempt import claim, complete
from thumbline.domain.transitions.deletion import delete_open, delete_terminal
from thumbline.service.reconcile.reconciler import Healed
from tools.chaos.universe import TIMINGS


@pytest.fixture
def world() -> World:
    return World()


def failure_code(world: World, job_id: str) -> FailureCode | None:
    failure = world.job(job_id).failure
    return None if failure is None else failure.code


def test_a_healthy_system_has_nothing_to_heal(world: World) -> None:
    world.queued()
    world.work()
    world.clock.advance(3_600)
    assert not world.reconcile().counts


def test_a_queued_job_without_a_message_is_published_again(world: World) -> None:
    """S28, S134."""
    job_id = lost_message(world)
    world.clock.advance(299)
    assert not world.reconcile().counts
    world.clock.advance(2)
    assert world.reconcile().counts == {Healed.REPUBLISHED: 1}
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


def test_a_second_pass_at_once_publishes_nothing_more(world: World) -> None:
    lost_message(world)
    world.clock.advance(301)
    world.reconcile()
    assert not world.reconcile().counts
    assert len(world.work_queue.messages) == 1


def test_republishing_is_spaced_further_each_time(world: World) -> None:
    lost_message(world)
    at = []
    for _ in range(200):
        world.clock.advance(60)
        if world.reconcile().counts[Healed.REPUBLISHED]:
            at.append(world.clock.now())
            world.work_queue.messages.clear()
    gaps = [(later - earlier) // 60_000 for earlier, later in pairwise(at)]
    assert gaps == [10, 20, 40, 60, 60]


def test_a_publish_that_the_queue_did_not_confirm_is_counted_and_comes_again(world: World) -> None:
    job_id = lost_message(world)
    world.faults.plan("work_queue.send", Fault.REFUSED)
    world.clock.advance(301)
    assert world.reconcile().counts == {Healed.UNPUBLISHED: 1}
    world.clock.advance(601)
    assert world.reconcile().counts == {Healed.REPUBLISHED: 1}
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


def test_a_backlog_that_explains_the_wait_is_not_amplified(world: World) -> None:
    """A job that starts now has waited 250 s; twice that is waited for before a message counts as lost."""
    job_id = lost_message(world)
    world.clock.advance(51)
    starting = world.queued(b"another", "another")
    world.clock.advance(250)
    world.tables.apply(starting, claim(starting, world.moment()))
    assert world.reconcile().counts == {Healed.POSTPONED: 1}
    assert world.job(job_id).next_check_at == world.job(job_id).available_at + 500_000
    world.tables.apply(starting, complete(starting, 1, {}, world.moment()))
    world.work_queue.messages.clear()
    world.clock.advance(200)
    assert world.reconcile().counts == {Healed.REPUBLISHED: 1}


def test_a_long_backlog_gets_no_duplicate(world: World) -> None:
    """Every check that falls due while it waits its turn is postponed; nothing is published."""
    for number in range(400):
        world.submit(b"%d" % number, f"{number}")
    world.relay()
    world.clock.advance(310)
    report = world.reconcile()
    assert set(report.counts) == {Healed.POSTPONED}
    assert report.expected_wait_ms is None  # a backlog that nobody works on
    (running,) = world.work_queue.receive(1)
    job_id = running.body.split('"job_id": "')[1][:30]
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(20)
    report = world.reconcile()
    assert report.expected_wait_ms == 310_000
    assert report.counts[Healed.REPUBLISHED] == 0
    assert len(world.work_queue.messages) == 400


def test_an_unreachable_queue_makes_the_wait_unknown_and_publishes_nothing(world: World) -> None:
    lost_message(world)
    world.faults.plan("work_queue.depth", Fault.REFUSED)
    world.clock.advance(301)
    report = world.reconcile()
    assert report.counts == {Healed.FAILED: 1, Healed.POSTPONED: 1}
    assert report.errors == ["sqs: work_queue.depth was refused"]


def test_a_live_attempt_is_left_alone_and_looked_at_again(world: World) -> None:
    """S136: slow and dead are told apart by the lease."""
    job_id = world.queued()
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(34)
    assert not world.reconcile().counts
    assert world.job(job_id).status is Status.RUNNING


def test_a_dead_lease_is_rescued_after_the_queue_had_its_turn(world: World) -> None:
    job_id = world.queued()
    world.work_queue.messages.clear()
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(36)
    assert world.reconcile().counts == {Healed.POSTPONED: 1}
    world.clock.advance(60)
    assert world.reconcile().counts == {Healed.RESCUED: 1}
    assert world.job(job_id).status is Status.QUEUED
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED
    assert world.job(job_id).attempts == 2


def test_a_dead_lease_without_attempts_left_is_exhausted(world: World) -> None:
    job_id = world.queued()
    world.work_queue.messages.clear()
    for _ in range(TIMINGS.attempt_cap):
        world.tables.apply(job_id, claim(job_id, world.moment()))
        world.clock.advance(36)
    assert world.reconcile().counts == {Healed.EXHAUSTED: 1}
    assert failure_code(world, job_id) is FailureCode.ATTEMPTS_EXHAUSTED
    assert world.relay().copied == 1


@pytest.mark.parametrize("running", [False, True])
def test_every_open_job_is_terminal_soon_after_its_deadline(world: World, running: bool) -> None:
    """I1: by the deadline, one lease and one pass a minute, whatever happened before."""
    job_id = lost_message(world)
    while world.clock.now() < world.job(job_id).deadline_at - 30_000:
        world.clock.advance(600)
        world.work_queue.messages.clear()
        world.reconcile()
    world.clock.advance(max(0, (world.job(job_id).deadline_at - world.clock.now()) / 1000 - 1))
    if running:
        world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(TIMINGS.lease_seconds + TIMINGS.skew_seconds + 60 if running else 60)
    assert world.reconcile().counts[Healed.EXPIRED] == 1
    assert failure_code(world, job_id) is FailureCode.EXPIRED


def test_a_worker_that_dies_just_before_the_deadline_keeps_nobody_waiting_past_it(world: World) -> None:
    """The rescue's patience would end after the deadline; the check does not wait for it."""
    job_id = world.queued()
    deadline_at = world.job(job_id).deadline_at
    world.clock.advance((deadline_at - world.clock.now()) / 1000 - 40)
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(36)
    assert world.reconcile().counts == {Healed.POSTPONED: 1}
    assert world.job(job_id).next_check_at == deadline_at + 1
    world.clock.advance(5)
    assert world.reconcile().counts == {Healed.EXPIRED: 1}


def test_an_undelivered_message_is_a_lost_message_not_a_failed_job(world: World) -> None:
    job_id = lost_message(world)
    world.undelivered.send([OutgoingMessage(request_for(job_id))])
    assert world.reconcile().counts == {Healed.REQUEUED: 1}
    assert not world.undelivered.messages
    assert world.job(job_id).outbox_seq == 2
    world.relay()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


def test_receives_that_a_table_outage_spent_lose_no_job(world: World) -> None:
    """Trap 3: receive counts are spent by throttles; the redrive policy is not the attempt cap."""
    job_id = world.queued()
    for _ in range(20):
        world.faults.plan("claim", Fault.REFUSED)
        world.work()
        world.clock.advance(1_000)
    assert not world.work().processed
    assert len(world.undelivered.messages) == 1
    assert world.job(job_id).attempts == 0
    assert world.reconcile().counts[Healed.REQUEUED] == 1
    world.relay()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


@pytest.mark.parametrize(
    ("state", "healed", "left", "row"),
    [
        ("succeeded", Healed.DROPPED, 0, ("SUCCEEDED", None)),
        ("missing", Healed.DROPPED, 0, None),
        ("leased", Healed.LEFT, 1, ("RUNNING", None)),
        ("lease over within the skew", Healed.LEFT, 1, ("RUNNING", None)),
        ("exhausted", Healed.EXHAUSTED, 0, ("FAILED", FailureCode.ATTEMPTS_EXHAUSTED)),
        ("expired", Healed.EXPIRED, 0, ("FAILED", FailureCode.EXPIRED)),
    ],
)
def test_an_undelivered_message_by_its_jobs_state(
    world: World, state: str, healed: Healed, left: int, row: tuple[str, FailureCode | None] | None
) -> None:
    job_id = world.queued()
    match state:
        case "succeeded":
            world.work()
        case "missing":
            world.tables.rows.clear()
        case "leased":
            world.tables.apply(job_id, claim(job_id, world.moment()))
        case "lease over within the skew":
            world.tables.apply(job_id, claim(job_id, world.moment()))
            world.clock.advance(TIMINGS.lease_seconds + TIMINGS.skew_seconds)
        case "exhausted":
            for _ in range(TIMINGS.attempt_cap):
                world.tables.apply(job_id, claim(job_id, world.moment()))
                world.clock.advance(36)
            world.tables.rows[job_id]["next_check_at"] += 10**9  # let the queue be first
        case "expired":
            world.tables.rows[job_id]["next_check_at"] += 10**9
            world.clock.advance(TIMINGS.deadline_seconds + 1)
    world.undelivered.send([OutgoingMessage(request_for(job_id))])
    assert world.reconcile().counts == {healed: 1}
    assert len(world.undelivered.messages) == left
    job = world.tables.get(job_id)
    assert (None if job is None else (job.status, failure_code(world, job_id))) == row


@pytest.mark.parametrize("fault", list(Fault))
def test_an_undelivered_message_outlives_a_failed_write(world: World, fault: Fault) -> None:
    job_id = lost_message(world)
    world.undelivered.send([OutgoingMessage(request_for(job_id))])
    world.faults.plan("requeue", fault)
    report = world.reconcile()
    assert report.counts == {Healed.FAILED: 1}
    assert len(world.undelivered.messages) == 1
    world.clock.advance(31)
    world.reconcile()
    assert not world.undelivered.messages
    world.relay()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


def test_an_undelivered_message_of_another_version_still_names_its_job(world: World) -> None:
    """It is not asked to be understood: the job is published again in our own words."""
    job_id = lost_message(world)
    world.undelivered.send([OutgoingMessage(f'{{"schema_version": 99, "job_id": "{job_id}"}}')])
    assert world.reconcile().counts == {Healed.REQUEUED: 1}
    assert not world.undelivered.messages


def test_an_undelivered_message_that_names_no_job_is_left_for_a_person(world: World) -> None:
    world.undelivered.send([OutgoingMessage("junk")])
    assert world.reconcile().counts == {Healed.LEFT: 1}
    assert len(world.undelivered.messages) == 1


def test_a_deleted_job_leaves_nothing_behind_even_after_a_late_worker(world: World) -> None:
    job_id = world.queued()
    world.tables.apply(job_id, delete_open(job_id, world.moment()))
    world.objects.put_thumbnail(f"thumbnails/{job_id}/thumbnail-0.jpg", b"late", "image/jpeg")
    world.clock.advance(TIMINGS.function_timeout_seconds)
    assert not world.reconcile().counts
    world.clock.advance(TIMINGS.skew_seconds)
    assert world.reconcile().counts == {Healed.PURGED: 1}
    assert not world.objects.objects
    assert not world.tables.rows


def test_the_end_of_retention_removes_objects_before_the_row(world: World) -> None:
    job_id = world.queued()
    world.work()
    world.clock.advance(TIMINGS.retention_days * 86_400 - 1)
    assert not world.reconcile().counts
    world.clock.advance(1)
    assert world.reconcile().counts == {Healed.RETIRED: 1}
    assert world.job(job_id).is_deleted
    world.clock.advance(126)
    world.faults.plan("purge", Fault.REFUSED)
    assert world.reconcile().counts == {Healed.FAILED: 1}
    assert not world.objects.objects
    assert world.reconcile().counts == {Healed.PURGED: 1}
    assert not world.tables.rows


def test_a_deleted_terminal_job_is_purged(world: World) -> None:
    job_id = world.queued()
    world.work()
    world.tables.apply(job_id, delete_terminal(job_id, world.moment()))
    world.clock.advance(126)
    assert world.reconcile().counts == {Healed.PURGED: 1}
    assert not world.objects.objects


def test_one_unreadable_row_does_not_hide_the_others(world: World) -> None:
    broken, good = world.submit(b"1", "1").job_id, world.submit(b"2", "2").job_id
    world.tables.stream.clear()
    del world.tables.rows[broken]["owner"]
    world.clock.advance(301)
    report = world.reconcile()
    assert report.counts == {Healed.BROKEN: 1, Healed.REPUBLISHED: 1}
    assert broken in report.errors[0]
    world.work()
    assert world.job(good).status is Status.SUCCEEDED


def test_each_part_runs_while_anothers_dependency_is_down(world: World) -> None:
    job_id = lost_message(world)
    world.undelivered.send([OutgoingMessage(request_for(job_id))])
    world.faults.plan("due", Fault.REFUSED)
    report = world.reconcile()
    assert report.counts == {Healed.FAILED: 1, Healed.REQUEUED: 1}
    assert report.errors == ["dynamodb: due was refused"]
