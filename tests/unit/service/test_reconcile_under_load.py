"""The reconciler where there is much of everything: backlogs, ends, failures, and too little time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import NoReturn

import pytest

from tests.unit.service.reconcile_rows import (
    ended,
    relay_failure,
    running_since_now,
    stored,
    waiting_messages,
)
from tests.world import World, lost_message, request_for
from thumbline.adapters.memory.faults import Fault
from thumbline.adapters.memory.jobs import MemoryTables
from thumbline.adapters.memory.objects import MemoryObjects
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.keys import Phase
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.patience import RECONCILING
from thumbline.domain.relay_failures import LostBatch
from thumbline.domain.transitions.attempt import claim, complete
from thumbline.domain.transitions.recovery import republish
from thumbline.service.reconcile.allowance import FINISHING_SECONDS, MAX_FAILURES_IN_A_ROW, Allowance
from thumbline.service.reconcile.reconciler import Healed
from thumbline.service.reconcile.run_pass import run_pass
from thumbline.service.reconcile.treat_due_jobs import due_jobs


@pytest.fixture
def world() -> World:
    return World()


def test_ends_of_retention_keep_no_lost_message_waiting(world: World) -> None:
    ended(world, 3_000)
    lost = lost_message(world)
    world.clock.advance(301)
    counts = world.reconcile().counts
    assert counts[Healed.REPUBLISHED] == 1
    assert counts[Healed.RETIRED] == 400
    assert world.job(lost).republish_count == 1


def test_the_wait_is_measured_on_running_jobs_whoever_else_is_due_soon(world: World) -> None:
    """Queued jobs whose patience ends soon, and ends of retention, lie in the same stretch of time."""
    stored(world, 100, next_check_at=world.clock.now() + 1_000)
    running_since_now(world, 400)
    waiting_messages(world)
    assert world.reconcile().expected_wait_ms == 400_000


def test_one_job_that_waited_long_says_nothing_of_the_others(world: World) -> None:
    """Its message was hidden for a whole visibility timeout."""
    for waited in (9, 10, 11, 720):
        running_since_now(world, waited)
    waiting_messages(world)
    assert world.reconcile().expected_wait_ms == 11_000


def test_a_job_whose_message_was_sent_again_does_not_tell_how_long_a_message_waits(world: World) -> None:
    running_since_now(world, 3_000, republish_count=1)
    waiting_messages(world)
    assert world.reconcile().expected_wait_ms is None
    running_since_now(world, 10)
    assert world.reconcile().expected_wait_ms == 10_000


def test_a_job_that_runs_again_does_not_tell_how_long_a_message_waits(world: World) -> None:
    """Its first start was before that of all others: an old wait, told as if it were of now."""
    running_since_now(world, 3_000, attempts=1)
    waiting_messages(world)
    assert world.reconcile().expected_wait_ms is None
    running_since_now(world, 10)
    assert world.reconcile().expected_wait_ms == 10_000


def test_a_lost_message_is_found_behind_a_long_backlog(world: World) -> None:
    """It has waited more than twice as long as those that start now."""
    lost = lost_message(world)
    world.clock.advance(1_300)
    for _ in range(20):
        running_since_now(world, 600)
    waiting_messages(world, 1_000)
    assert world.reconcile().counts[Healed.REPUBLISHED] == 1
    assert world.job(lost).republish_count == 1


def seconds_left(*values: float) -> Callable[[], float]:
    """Each look at the time finds less of it."""
    steps: Iterator[float] = iter(values)
    return lambda: next(steps)


def test_a_part_takes_half_of_what_is_left() -> None:
    share = Allowance.of(seconds_left(60.0, 41.0, 40.0))
    assert share.stop_at_seconds == FINISHING_SECONDS + 20
    assert not share.is_over
    assert share.is_over


def test_what_is_kept_back_outlasts_a_treatment_that_hangs_and_then_a_snapshot_that_hangs() -> None:
    assert 2 * RECONCILING.call_seconds + 1 <= FINISHING_SECONDS


def test_a_part_that_begins_too_late_does_nothing() -> None:
    assert Allowance.of(lambda: FINISHING_SECONDS - 1).is_over


def test_a_pass_that_runs_out_of_time_leaves_some_to_each_part_and_writes_its_snapshot(world: World) -> None:
    """Every look at the time costs a quarter of a second: 400 rows of each phase are far too many."""
    for number in range(400):
        lost = lost_message(world) if not number else stored(world)[0]
    ended(world, 400)
    world.undelivered.send([OutgoingMessage(request_for(lost)) for _ in range(400)])
    world.clock.advance(301)
    looks = count(55, -0.25)
    world.remaining_seconds = lambda: float(next(looks))
    counts = world.reconcile().counts
    assert 0 < counts[Healed.REPUBLISHED] < 400
    assert 0 < counts[Healed.REQUEUED] + counts[Healed.OVERTAKEN] < 400
    assert 0 < counts[Healed.RETIRED] < 400
    assert next(looks) >= FINISHING_SECONDS / 2
    assert world.tables.read_snapshot() is not None


def test_one_row_that_is_refused_hides_none_of_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 says no to one object, in every pass."""
    for job_id in ended(world, 70):
        world.tables.put_row(world.tables.rows[job_id] | {"deleted_at": 1, "status": "FAILED"})
    refused, *_ = due_jobs(Phase.ENDED, world.reconciler)  # the first to be treated
    remove_all = MemoryObjects.remove_all

    def refuse_one(objects: MemoryObjects, prefix: str) -> int:
        if refused in prefix:
            raise DependencyUnavailableError("s3", "AccessDenied")
        return remove_all(objects, prefix)

    monkeypatch.setattr(MemoryObjects, "remove_all", refuse_one)
    assert world.reconcile().counts == {Healed.FAILED: 1, Healed.PURGED: 69}


def test_failures_between_successes_end_no_part(world: World) -> None:
    stored(world, 200)
    world.clock.advance(301)
    get = MemoryTables.get

    def sometimes(tables: MemoryTables, job_id: str) -> Job | None:
        if job_id[-1] in "02468":
            raise DependencyUnavailableError("dynamodb", "throttled")
        return get(tables, job_id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryTables, "get", sometimes)
        counts = world.reconcile().counts
    refused = sum(job_id[-1] in "02468" for job_id in world.tables.rows)
    assert refused > MAX_FAILURES_IN_A_ROW
    assert (counts[Healed.REPUBLISHED], counts[Healed.FAILED]) == (200 - refused, refused)


def test_where_the_time_ends_no_shard_is_behind_the_others(world: World) -> None:
    stored(world, 2_000)
    world.clock.advance(301)
    looks = count(60, -1)
    world.remaining_seconds = lambda: float(next(looks))
    counts = world.reconcile().counts
    assert 0 < counts[Healed.REPUBLISHED] < 400
    treated = Counter(row["check_shard"] for row in world.tables.rows.values() if row["republish_count"])
    assert len(treated) == 8
    assert max(treated.values()) - min(treated.values()) <= 1


@pytest.mark.parametrize(
    "error", [ValueError("what botocore refuses"), DependencyUnavailableError("x", "no")]
)
def test_one_failure_record_that_cannot_be_read_hides_none_of_the_others(
    world: World, error: Exception
) -> None:
    for number in range(3):
        world.submit(str(number).encode(), str(number))
        relay_failure(world, number + 1, number + 1)
    owed = world.outbox.owed

    def refuse_first(lost: LostBatch) -> Mapping[str, int] | None:
        if int(lost.first_sequence_number) == 1:
            raise error
        return owed(lost)

    world.outbox.owed = refuse_first  # type: ignore[method-assign]
    counts = world.reconcile().counts
    assert counts.pop(Healed.OWED_AGAIN) == 2
    assert counts in ({Healed.BROKEN: 1}, {Healed.FAILED: 1})
    assert len(world.relay_failures.messages) == 1


def test_nobody_waits_for_a_dependency_that_is_down_more_than_once_a_part(world: World) -> None:
    stored(world, 200)
    world.clock.advance(301)
    for _ in range(200):
        world.faults.plan("get", Fault.REFUSED)
    report = world.reconcile()
    assert report.counts == {Healed.FAILED: MAX_FAILURES_IN_A_ROW}


def test_what_the_relay_gave_up_on_is_owed_once_though_a_sibling_still_runs(world: World) -> None:
    """The record stays for the one that runs, and the others are not published again with each pass."""
    running, *others = [world.submit(str(number).encode(), str(number)).job_id for number in range(20)]
    last = len(world.tables.stream)
    world.tables.apply(running, claim(running, world.moment()))
    relay_failure(world, 1, last)
    assert world.reconcile().counts == {Healed.OWED_AGAIN: 19, Healed.LEFT: 1}
    for _ in range(2):
        world.clock.advance(31)
        counts = world.reconcile().counts
        assert (counts[Healed.DROPPED], counts[Healed.LEFT], counts[Healed.OWED_AGAIN]) == (19, 1, 0)
    world.clock.advance(31)
    world.tables.apply(running, complete(running, 1, {}, world.moment()))
    assert world.reconcile().counts == {Healed.DROPPED: 20}
    assert not world.relay_failures.messages
    assert {world.job(job_id).outbox_seq for job_id in others} == {2}


def test_a_publish_that_was_owed_since_is_not_what_the_relay_gave_up_on(world: World) -> None:
    job_id = world.submit().job_id
    relay_failure(world, 1, 1)
    world.tables.apply(job_id, republish(world.job(job_id), world.moment()))
    assert world.outbox.owed(LostBatch("arn", "shard", f"{1:021d}", f"{1:021d}")) == {job_id: 1}
    assert world.reconcile().counts == {Healed.OWED_AGAIN: 1}
    relay_failure(world, 1, 1)
    assert world.reconcile().counts == {Healed.DROPPED: 1}


def test_a_record_may_stand_for_more_jobs_than_a_part_of_a_pass_treats(world: World) -> None:
    """Lambda folds many failures into one record, and half a record is not done with."""
    jobs = 3 * world.reconciler.max_jobs_per_run
    for number in range(jobs):
        world.submit(str(number).encode(), str(number))
    relay_failure(world, 1, jobs)
    looks = count(30, -0.25)
    world.remaining_seconds = lambda: float(next(looks))
    first = world.reconcile().counts
    assert 0 < first[Healed.OWED_AGAIN] < jobs
    assert world.relay_failures.messages
    world.clock.advance(31)
    world.remaining_seconds = lambda: 55.0
    second = world.reconcile().counts
    assert second == {
        Healed.DROPPED: first[Healed.OWED_AGAIN],
        Healed.OWED_AGAIN: jobs - first[Healed.OWED_AGAIN],
    }
    assert not world.relay_failures.messages


@pytest.mark.parametrize("queue", ["undelivered", "relay_failures"])
def test_a_part_takes_as_many_messages_as_it_may_and_asks_for_no_more(world: World, queue: str) -> None:
    """SQS refuses a receive of none."""
    job_ids = [world.submit(str(number).encode(), str(number)).job_id for number in range(5)]
    world.undelivered.send([OutgoingMessage(request_for(job_id)) for job_id in job_ids])
    for number in range(1, 6):
        relay_failure(world, number, number)
    left_alone = world.relay_failures if queue == "undelivered" else world.undelivered
    left_alone.messages.clear()
    receives: list[str] = []
    world.faults.watch = lambda event: receives.append(event) if event == f"before {queue}.receive" else None
    counts = run_pass(replace(world.reconciler, max_jobs_per_run=3), world.remaining_seconds).counts
    assert counts == {Healed.REQUEUED if queue == "undelivered" else Healed.OWED_AGAIN: 3}
    assert len(receives) == 1


class BrokenOutbox:
    def owed(self, _lost: LostBatch) -> NoReturn:
        raise ZeroDivisionError("a bug of ours")


def test_a_bug_in_one_part_is_told_and_stops_no_other(world: World) -> None:
    relay_failure(world, 1, 1)
    lost_message(world)
    world.clock.advance(301)
    report = run_pass(replace(world.reconciler, outbox=BrokenOutbox()), world.remaining_seconds)
    assert report.counts == {Healed.BROKEN: 1, Healed.REPUBLISHED: 1}
    assert "ZeroDivisionError: a bug of ours (test_" in report.errors[0]
    assert world.tables.snapshot is not None
