"""JobStore and AcceptanceStore."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.contract.conftest import Backend
from tests.world import SMALL, World, new_job
from thumbline.adapters.memory.clock import SeededIds
from thumbline.domain.errors import FailureCode
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Failure, Job, Result, Status
from thumbline.domain.keys import Phase, shards_of
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.domain.snapshot import Snapshot
from thumbline.domain.timings import Timings
from thumbline.domain.transition import TransitionRefusedError
from thumbline.domain.transitions import attempt, deletion, recovery, redrive, unleased
from tools.chaos.universe import TIMINGS

RESULTS = {
    "thumbnail": Result("thumbnails/k", "ab" * 32, 320, 213, 9_000, "image/jpeg"),
    "small": Result("thumbnails/s", "cd" * 32, 64, 64, 900, "image/webp"),
}
FAILURE = Failure(FailureCode.RENDER_CRASHED, "died", retryable=True)


ALL_SHARDS = [shard for phase in Phase for shard in shards_of(phase)]
_seeds = itertools.count(1)


def world_of_its_own(timings: Timings = TIMINGS) -> World:
    """The ids of no other test: the emulator, as AWS, knows a transaction's token for minutes."""
    return World(ids=SeededIds(next(_seeds)), timings=timings)


@pytest.fixture
def world() -> World:
    return world_of_its_own()


def record_for(job: Job, record_id: str = "alice#1", seconds: int = 86_400) -> IdempotencyRecord:
    return IdempotencyRecord(record_id, "print", job.job_id, job.created_at // 1000 + seconds)


def accepted(backend: Backend, world: World) -> Job:
    job = new_job(world, presets=(DEFAULT_PRESET, SMALL))
    assert backend.store.accept(job, record_for(job, f"alice#{job.job_id}")) is None
    return job


def test_an_accepted_job_reads_back_whole(backend: Backend, world: World) -> None:
    job = accepted(backend, world)
    assert backend.jobs.get(job.job_id) == job
    record = backend.store.find_record(f"alice#{job.job_id}")
    assert record == record_for(job, f"alice#{job.job_id}")


def test_what_is_not_there_is_none(backend: Backend, world: World) -> None:
    assert backend.jobs.get(new_job(world).job_id) is None
    assert backend.store.find_record("alice#unknown") is None


def test_a_live_key_returns_its_holder_and_stores_no_second_job(backend: Backend, world: World) -> None:
    first, second = new_job(world), new_job(world)
    assert backend.store.accept(first, record_for(first)) is None
    assert backend.store.accept(second, record_for(second)) == record_for(first)
    assert backend.jobs.get(second.job_id) is None


def test_accepting_the_same_job_twice_is_one_acceptance(backend: Backend, world: World) -> None:
    """The answer to the first try was lost."""
    job = new_job(world)
    assert backend.store.accept(job, record_for(job)) is None
    assert backend.store.accept(job, record_for(job)) is None
    assert backend.jobs.get(job.job_id) == job


def test_an_expired_key_that_ttl_has_not_deleted_is_free(backend: Backend, world: World) -> None:
    first = new_job(world)
    backend.store.accept(first, record_for(first, seconds=60))
    world.clock.advance(59)
    early = new_job(world)
    assert backend.store.accept(early, record_for(early)) == record_for(first, seconds=60)
    world.clock.advance(1)
    late = new_job(world)
    assert backend.store.accept(late, record_for(late)) is None
    assert backend.store.find_record("alice#1") == record_for(late)


def test_a_whole_life(backend: Backend, world: World) -> None:
    job_id = accepted(backend, world).job_id
    claimed = backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    assert (claimed.status, claimed.fencing_token, claimed.attempts) == (Status.RUNNING, 1, 1)
    world.clock.advance(10)
    extended = backend.jobs.apply(job_id, attempt.extend_lease(1, world.moment()))
    assert extended.lease_expires_at == world.clock.now() + TIMINGS.lease_seconds * 1000
    released = backend.jobs.apply(
        job_id,
        attempt.release(
            claimed,
            FAILURE,
            available_at=world.clock.now(),
            give_attempt_back=True,
            moment=world.moment(),
        ),
    )
    assert (released.status, released.attempts, released.failure) == (Status.QUEUED, 0, FAILURE)
    assert released.lease_expires_at is None
    again = backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    assert again.fencing_token == 2
    assert again.started_at == claimed.started_at
    done = backend.jobs.apply(job_id, attempt.complete(job_id, 2, RESULTS, world.moment()))
    assert (done.status, done.results, done.failure) == (Status.SUCCEEDED, RESULTS, None)
    assert backend.jobs.get(job_id) == done


def test_a_refusal_carries_the_row_as_it_is(backend: Backend, world: World) -> None:
    job_id = accepted(backend, world).job_id
    claimed = backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    with pytest.raises(TransitionRefusedError) as refused:
        backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    assert refused.value.job == claimed
    assert backend.jobs.get(job_id) == claimed


def test_a_refusal_without_a_row_carries_none(backend: Backend, world: World) -> None:
    job_id = new_job(world).job_id
    with pytest.raises(TransitionRefusedError) as refused:
        backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    assert refused.value.job is None
    assert backend.jobs.get(job_id) is None


def test_a_stale_token_writes_nothing(backend: Backend, world: World) -> None:
    job_id = accepted(backend, world).job_id
    backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    world.clock.advance(36)
    second = backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    with pytest.raises(TransitionRefusedError):
        backend.jobs.apply(job_id, attempt.complete(job_id, 1, RESULTS, world.moment()))
    assert backend.jobs.get(job_id) == second


def test_the_same_transition_heard_twice_is_done_once(backend: Backend, world: World) -> None:
    job_id = accepted(backend, world).job_id
    claim = attempt.claim(job_id, world.moment())
    first = backend.jobs.apply(job_id, claim)
    assert backend.jobs.apply(job_id, claim) == first
    assert first.attempts == 1


def test_every_other_transition_is_understood(backend: Backend, world: World) -> None:
    """What an expression or an attribute name could break: each is applied once and read back."""
    job = accepted(backend, world)
    job_id = job.job_id
    jobs = backend.jobs
    postponed = jobs.apply(job_id, recovery.postpone_check(job, world.clock.now() + 5, world.moment()))
    assert postponed.next_check_at == world.clock.now() + 5
    republished = jobs.apply(job_id, recovery.republish(postponed, world.moment()))
    assert republished.republish_count == 1
    requeued = jobs.apply(job_id, recovery.requeue(republished, world.moment()))
    assert (requeued.outbox_seq, requeued.republish_count) == (2, 0)
    assert jobs.apply(job_id, recovery.owe_again(requeued, world.moment())).outbox_seq == 3
    jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    world.clock.advance(36)
    dead = jobs.get(job_id)
    assert dead is not None
    assert jobs.apply(job_id, recovery.rescue(dead, world.moment())).status is Status.QUEUED
    rejected = jobs.apply(job_id, unleased.reject_message(job_id, "why", world.moment()))
    assert rejected.failure is not None
    assert rejected.failure.code is FailureCode.BAD_MESSAGE
    redriven = jobs.apply(job_id, redrive.redrive(job_id, 1, operator="ops", moment=world.moment()))
    assert (redriven.generation, redriven.expires_at, len(redriven.trace)) == (2, None, 1)
    for _ in range(TIMINGS.attempt_cap):
        jobs.apply(job_id, attempt.claim(job_id, world.moment()))
        world.clock.advance(36)
    exhausted = jobs.apply(job_id, unleased.exhaust_abandoned(job_id, FAILURE, world.moment()))
    assert exhausted.status is Status.FAILED
    again = jobs.apply(job_id, redrive.redrive(job_id, 2, operator="ops", moment=world.moment()))
    assert len(again.trace) == 2
    world.clock.advance(TIMINGS.deadline_seconds + 1)
    assert jobs.apply(job_id, unleased.expire(job_id, world.moment())).status is Status.FAILED
    tombstone = jobs.apply(job_id, deletion.delete_terminal(job_id, world.moment()))
    assert tombstone.is_deleted


def test_failures_of_the_owner_are_understood(backend: Backend, world: World) -> None:
    job_id = accepted(backend, world).job_id
    backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    with pytest.raises(TransitionRefusedError):
        backend.jobs.apply(job_id, attempt.exhaust(job_id, 1, FAILURE, world.moment()))
    failed = backend.jobs.apply(job_id, attempt.fail(job_id, 1, FAILURE, world.moment()))
    assert (failed.status, failed.failure) == (Status.FAILED, FAILURE)


def test_only_due_rows_are_found_the_longest_due_first(backend: Backend, world: World) -> None:
    found: list[str] = []
    jobs = [accepted(backend, world) for _ in range(12)]
    for offset, job in enumerate(jobs):
        backend.jobs.apply(
            job.job_id, recovery.postpone_check(job, world.clock.now() + offset, world.moment())
        )
    for shard in shards_of(Phase.QUEUED):
        due = list(backend.jobs.due(shard, world.clock.now() + 9, 100))
        assert due == [job.job_id for job in jobs if job.job_id in due]
        assert list(backend.jobs.due(shard, world.clock.now() + 9, 1)) == due[:1]
        found.extend(due)
    assert set(found) == {job.job_id for job in jobs[:10]}


def test_a_row_without_a_due_check_leaves_the_index(backend: Backend) -> None:
    world = world_of_its_own(replace(TIMINGS, retention_days=0))
    job_id = accepted(backend, world).job_id
    backend.jobs.apply(job_id, attempt.claim(job_id, world.moment()))
    backend.jobs.apply(job_id, attempt.complete(job_id, 1, RESULTS, world.moment()))
    far = world.clock.now() + 10**12
    assert not [job for shard in ALL_SHARDS for job in backend.jobs.due(shard, far, 100)]


def test_a_job_is_found_in_one_phase_alone(backend: Backend, world: World) -> None:
    """An end that can wait never stands before a job that waits."""
    queued, running, ended = (accepted(backend, world) for _ in range(3))
    backend.jobs.apply(running.job_id, attempt.claim(running.job_id, world.moment()))
    backend.jobs.apply(ended.job_id, deletion.delete_open(ended.job_id, world.moment()))
    found = {
        phase: [job for shard in shards_of(phase) for job in backend.jobs.due(shard, 10**15, 10)]
        for phase in Phase
    }
    assert found == {
        Phase.QUEUED: [queued.job_id],
        Phase.RUNNING: [running.job_id],
        Phase.ENDED: [ended.job_id],
    }


def test_only_a_tombstone_that_is_due_is_purged(backend: Backend, world: World) -> None:
    job_id = accepted(backend, world).job_id
    tombstone = backend.jobs.apply(job_id, deletion.delete_open(job_id, world.moment()))
    assert not backend.jobs.purge(job_id, deletion.purge(tombstone, world.moment()))
    world.clock.advance(126)
    assert not backend.jobs.purge(job_id, deletion.purge(replace(tombstone, next_check_at=1), world.moment()))
    assert backend.jobs.purge(job_id, deletion.purge(tombstone, world.moment()))
    assert backend.jobs.get(job_id) is None
    assert not backend.jobs.purge(job_id, deletion.purge(tombstone, world.moment()))


def test_checks_that_lie_ahead_are_found_the_nearest_first(backend: Backend, world: World) -> None:
    """Of running jobs: their check is the end of their lease."""
    now = world.clock.now()
    jobs = [accepted(backend, world) for _ in range(6)]
    for job in jobs[:3]:
        backend.jobs.apply(job.job_id, attempt.claim(job.job_id, world.moment()))
    found: list[str] = []
    for shard in shards_of(Phase.RUNNING):
        found.extend(backend.jobs.upcoming(shard, now, now + 35_001, 10))
        assert not backend.jobs.upcoming(shard, now + 35_001, now + 35_001, 10)
    assert set(found) == {job.job_id for job in jobs[:3]}


def test_a_snapshot_reads_back_and_is_no_job(backend: Backend) -> None:
    assert backend.snapshots.read_snapshot() is None
    first = Snapshot(taken_at=1, backlog=2, orphans_seen_until="originals/")
    last = Snapshot(
        taken_at=3,
        backlog=4,
        orphans_seen_until="originals/x",
        expected_wait_ms=5,
        oldest_open="img_a",
        oldest_queued="img_b",
    )
    for snapshot in (first, last):
        backend.snapshots.write_snapshot(snapshot)
        assert backend.snapshots.read_snapshot() == snapshot
    far = 10**15
    assert not [job for shard in ALL_SHARDS for job in backend.jobs.due(shard, far, 10)]
