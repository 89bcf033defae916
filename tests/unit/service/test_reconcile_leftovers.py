"""What the reconciler picks up elsewhere: relay failures, orphans, and the oldest jobs."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.world import World, lost_message, request_for
from thumbline.adapters.memory.faults import Fault
from thumbline.adapters.memory.objects import StoredObject
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.schema import ORIGINALS_PREFIX
from thumbline.domain.transitions.attempt import claim
from thumbline.domain.transitions.deletion import delete_terminal
from thumbline.domain.transitions.recovery import rescue
from thumbline.domain.transitions.unleased import expire
from thumbline.service.reconcile.allowance import Allowance
from thumbline.service.reconcile.reconciler import Healed, ReconcileReport
from thumbline.service.reconcile.sweep_orphans import ORPHAN_AGE_SECONDS, sweep_orphans
from tools.chaos.universe import TIMINGS


@pytest.fixture
def world() -> World:
    return World()


def test_what_the_relay_gave_up_on_is_owed_again(world: World) -> None:
    job_id = world.submit().job_id
    world.relay_failures.send([OutgoingMessage(lost_batch(1, 1))])
    assert world.reconcile().counts == {Healed.OWED_AGAIN: 1}
    assert not world.relay_failures.messages
    assert world.job(job_id).outbox_seq == 2


def test_an_annotated_copy_that_the_relay_gave_up_on_is_written_in_the_end(world: World) -> None:
    """I9: exhausted means that a copy exists or is owed."""
    job_id = world.queued()
    for _ in range(TIMINGS.attempt_cap):
        world.tables.apply(job_id, claim(job_id, world.moment()))
        world.clock.advance(36)
    world.reconcile()
    lost = len(world.tables.stream)
    world.tables.stream[-1:] = [world.tables.stream[-1]]
    world._relayed = lost  # the relay gave up on it
    world.relay_failures.send([OutgoingMessage(lost_batch(lost, lost))])
    assert world.reconcile().counts[Healed.OWED_AGAIN] == 1
    assert world.relay().copied == 1
    assert job_id in str(next(iter(world.dead_letters.messages.values())).message.attributes)


@pytest.mark.parametrize("fault", list(Fault))
def test_a_relay_failure_outlives_a_failed_write(world: World, fault: Fault) -> None:
    world.submit()
    world.relay_failures.send([OutgoingMessage(lost_batch(1, 1))])
    world.faults.plan("owe_again", fault)
    assert world.reconcile().counts == {Healed.FAILED: 1}
    assert len(world.relay_failures.messages) == 1


@pytest.mark.parametrize("trouble", [Healed.FAILED, Healed.BROKEN, Healed.OVERTAKEN])
def test_a_relay_failure_stays_until_each_of_its_rows_is_settled(world: World, trouble: Healed) -> None:
    """One row could not be treated, its sibling was: the record is all that knows of the first."""
    job_id, sibling = (world.submit(key.encode(), key).job_id for key in ("1", "2"))
    whole = dict(world.tables.rows[job_id])

    def claim_first(event: str) -> None:
        if event == "before owe_again":
            world.faults.watch = None
            world.tables.apply(job_id, claim(job_id, world.moment()))

    match trouble:
        case Healed.FAILED:
            world.faults.plan("owe_again", Fault.REFUSED)
        case Healed.BROKEN:
            del world.tables.rows[job_id]["owner"]
        case Healed.OVERTAKEN:
            world.faults.watch = claim_first
    world.relay_failures.send([OutgoingMessage(lost_batch(1, 2))])
    assert world.reconcile().counts == {trouble: 1, Healed.OWED_AGAIN: 1}
    assert len(world.relay_failures.messages) == 1
    world.tables.put_row(whole)  # mended, or given back by its worker
    world.clock.advance(31)
    assert world.reconcile().counts == {Healed.OWED_AGAIN: 1, Healed.DROPPED: 1}
    assert not world.relay_failures.messages
    assert (world.job(job_id).outbox_seq, world.job(sibling).outbox_seq) == (2, 2)


def test_an_expired_job_whose_publish_was_lost_owes_nothing(world: World) -> None:
    """No copy: nobody is to look at a job that only came too late."""
    job_id = world.submit().job_id
    world.clock.advance(TIMINGS.deadline_seconds + 1)
    world.tables.apply(job_id, expire(job_id, world.moment()))
    world.relay_failures.send([OutgoingMessage(lost_batch(1, 1))])
    assert world.reconcile().counts == {Healed.DROPPED: 1}
    assert (world.job(job_id).outbox_seq, world.relay().copied) == (1, 0)


def test_a_relay_failure_of_a_running_job_stays_until_it_is_settled(world: World) -> None:
    """The model check's finding: the worker may die, and then the lost publish is owed again."""
    job_id = world.submit().job_id
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.relay_failures.send([OutgoingMessage(lost_batch(1, 1))])
    assert world.reconcile().counts == {Healed.LEFT: 1}
    assert len(world.relay_failures.messages) == 1
    world.clock.advance(36)
    world.tables.apply(job_id, rescue(world.job(job_id), world.moment()))
    assert world.reconcile().counts == {Healed.OWED_AGAIN: 1}
    assert not world.relay_failures.messages


def test_rows_that_owe_nothing_are_left_and_what_is_forgotten_stays_for_a_person(world: World) -> None:
    job_id = world.queued()
    world.work()
    before = world.tables.rows[job_id]
    world.relay_failures.send([OutgoingMessage(lost_batch(1, 3))])
    assert world.reconcile().counts == {Healed.DROPPED: 1}
    assert world.tables.rows[job_id] == before
    world.outbox.forgotten_before = f"{2:021d}"
    world.relay_failures.send([OutgoingMessage(lost_batch(1, 3)), OutgoingMessage("junk")])
    assert world.reconcile().counts == {Healed.LEFT: 2}
    assert len(world.relay_failures.messages) == 2


@pytest.mark.parametrize("end", ["purged", "deleted"])
def test_what_the_relay_gave_up_on_is_nobodys_once_its_job_is_gone(world: World, end: str) -> None:
    """An exhausted job, which would still owe its copy: a record that is kept for it would stay for good."""
    job_id = world.queued()
    for _ in range(TIMINGS.attempt_cap):
        world.tables.apply(job_id, claim(job_id, world.moment()))
        world.clock.advance(36)
    world.work()
    lost = len(world.tables.stream)
    if end == "purged":
        world.tables.rows.clear()
    else:
        world.tables.apply(job_id, delete_terminal(job_id, world.moment()))
    world.relay_failures.send([OutgoingMessage(lost_batch(lost, lost))])
    assert world.reconcile().counts == {Healed.DROPPED: 1}
    assert not world.relay_failures.messages


def lost_batch(first: int, last: int) -> str:
    return json.dumps(
        {
            "version": "1.0",
            "DDBStreamBatchInfo": {
                "shardId": "shard",
                "startSequenceNumber": f"{first:021d}",
                "endSequenceNumber": f"{last:021d}",
                "batchSize": last - first + 1,
                "streamArn": "arn",
            },
        }
    )


def test_orphans_go_after_a_day_and_originals_with_a_row_stay(world: World) -> None:
    """I12, and the loser of a concurrent duplicate."""
    kept = world.submit(b"kept", "kept").job_id
    orphan = world.ids.job_id(world.clock.now())
    world.objects.put_original(f"originals/{orphan}", b"x", hashlib.sha256(b"x").hexdigest())
    world.clock.advance(24 * 3600 - 1)
    assert world.reconcile().counts[Healed.ORPHAN_REMOVED] == 0
    assert len(world.objects.objects) == 2
    world.clock.advance(2)
    young = world.ids.job_id(world.clock.now())
    world.objects.put_original(f"originals/{young}", b"y", hashlib.sha256(b"y").hexdigest())
    assert world.reconcile().counts[Healed.ORPHAN_REMOVED] == 1
    assert set(world.objects.objects) == {f"originals/{kept}", f"originals/{young}"}
    assert world.tables.snapshot is not None
    assert world.tables.snapshot.orphans_seen_until == f"originals/{max(kept, orphan)}"


def orphan(world: World) -> str:
    """An original that nobody accepted, as old as it must be."""
    key = f"originals/{world.ids.job_id(world.clock.now())}"
    world.objects.put_original(key, b"x", hashlib.sha256(b"x").hexdigest())
    return key


def swept_past_a_job(world: World) -> str:
    """The cursor, which a first pass has moved past the original of a finished job."""
    key = f"originals/{world.queued()}"
    world.work()
    world.clock.advance(ORPHAN_AGE_SECONDS + 1)
    world.reconcile()
    assert world.tables.snapshot is not None
    assert world.tables.snapshot.orphans_seen_until == key
    return key


def cursor(world: World) -> str:
    assert world.tables.snapshot is not None
    return world.tables.snapshot.orphans_seen_until


@pytest.mark.parametrize("operation", ["get", "remove_all"])
def test_the_sweep_does_not_pass_an_original_that_it_could_not_treat(world: World, operation: str) -> None:
    """Behind the cursor nobody would ever look at it again; in front of it the next pass does."""
    seen_until = swept_past_a_job(world)
    orphans = sorted(orphan(world) for _ in range(3))
    world.clock.advance(ORPHAN_AGE_SECONDS + 1)
    world.faults.plan(operation, Fault.REFUSED)
    assert world.reconcile().counts == {Healed.FAILED: 1, Healed.ORPHAN_REMOVED: 2}
    assert cursor(world) == seen_until
    assert world.reconcile().counts == {Healed.ORPHAN_REMOVED: 1}
    assert cursor(world) == orphans[0]
    assert set(world.objects.objects) & set(orphans) == set()


def test_what_is_no_jobs_original_is_passed_by_and_left(world: World) -> None:
    """More of it than a page of S3's listing holds; behind it the sweep still finds what it is for."""
    foreign = {f"originals/backup-{number:04d}" for number in range(1_001)}
    for key in foreign:
        world.objects.objects[key] = StoredObject(b"not ours", "text/plain")
    key = orphan(world)
    world.clock.advance(ORPHAN_AGE_SECONDS + 1)
    assert world.reconcile().counts == {Healed.ORPHAN_REMOVED: 1}
    assert set(world.objects.objects) == foreign
    assert cursor(world) == key


def test_a_listing_that_fails_does_not_send_the_sweep_back_to_the_oldest_original(world: World) -> None:
    seen_until = swept_past_a_job(world)
    world.clock.advance(60)
    world.faults.plan("originals_after", Fault.REFUSED)
    assert world.reconcile().counts == {Healed.FAILED: 1}
    assert cursor(world) == seen_until
    assert world.tables.snapshot is not None
    assert world.tables.snapshot.taken_at == world.clock.now()


def test_a_snapshot_that_cannot_be_read_is_not_overwritten(world: World) -> None:
    swept_past_a_job(world)
    before = world.tables.snapshot
    world.clock.advance(60)
    world.faults.plan("read_snapshot", Fault.REFUSED)
    assert world.reconcile().counts == {Healed.FAILED: 1}
    assert world.tables.snapshot == before


def test_the_sweep_does_not_pass_what_it_had_no_time_for(world: World) -> None:
    key = orphan(world)
    world.clock.advance(ORPHAN_AGE_SECONDS + 1)
    report = ReconcileReport()
    looks = iter([20.0, 10.0])
    sweep_orphans(world.reconciler, report, Allowance(lambda: next(looks), stop_at_seconds=15.0))
    assert report.orphans_seen_until == ORIGINALS_PREFIX
    assert key in world.objects.objects


def test_the_oldest_queued_job_is_remembered_beside_an_older_one_that_runs(world: World) -> None:
    running = world.queued(b"runs", "runs")
    world.clock.advance(10)
    lost_message(world)
    world.clock.advance(270)
    world.tables.apply(running, claim(running, world.moment()))
    world.clock.advance(40)
    assert world.reconcile().counts == {Healed.POSTPONED: 2}
    for seconds in (320, 330):
        world.clock.advance(10)
        report = world.reconcile()
        assert report.oldest_queued_seconds(world.clock.now()) == seconds
        assert report.oldest_open_seconds(world.clock.now()) == seconds + 10


def test_the_oldest_jobs_are_remembered_between_their_checks(world: World) -> None:
    """SQS's age metric skips what was received three times; the row's age does not."""
    job_id = lost_message(world)
    world.clock.advance(301)
    world.faults.plan("work_queue.send", Fault.REFUSED)
    assert world.reconcile().oldest_open_seconds(world.clock.now()) == 301
    world.clock.advance(60)
    report = world.reconcile()
    assert not report.counts
    assert report.oldest_open_seconds(world.clock.now()) == 361
    assert report.oldest_queued_seconds(world.clock.now()) == 361
    world.send_to_work_queue(request_for(job_id))
    world.work()
    report = world.reconcile()
    assert report.oldest_open is None
    assert report.oldest_open_seconds(world.clock.now()) == 0
