"""The stream read again where the relay gave up, and the index that an operator looks through."""

from __future__ import annotations

from tests.contract.conftest import Backend, Change
from tests.contract.test_job_store import accepted, world_of_its_own
from thumbline.domain.job import Status
from thumbline.domain.relay_failures import LostBatch
from thumbline.domain.snapshot import Snapshot
from thumbline.domain.transitions import attempt, deletion, recovery


def stretch(first: Change, last: Change) -> LostBatch:
    return LostBatch(first.stream_arn, first.shard_id, first.sequence_number, last.sequence_number)


def test_the_jobs_of_a_stretch_are_found_and_no_neighbour(backend: Backend) -> None:
    world = world_of_its_own()
    jobs = [accepted(backend, world).job_id for _ in range(5)]
    changes = backend.changes()
    assert [change.job_id for change in changes] == jobs
    assert backend.outbox.owed(stretch(changes[1], changes[3])) == dict.fromkeys(jobs[1:4], 1)
    assert backend.outbox.owed(stretch(changes[2], changes[2])) == {jobs[2]: 1}
    assert backend.outbox.owed(stretch(changes[4], changes[4])) == {jobs[4]: 1}


def test_a_job_that_changed_twice_in_a_stretch_is_named_once_as_it_was_last(backend: Backend) -> None:
    world = world_of_its_own()
    job, second = accepted(backend, world), accepted(backend, world).job_id
    first = job.job_id
    backend.jobs.apply(first, recovery.requeue(job, world.moment()))
    changes = backend.changes()
    assert [change.job_id for change in changes] == [first, second, first]
    assert backend.outbox.owed(stretch(changes[0], changes[2])) == {first: 2, second: 1}


def test_neither_the_snapshot_nor_a_removed_row_owes_anything(backend: Backend) -> None:
    world = world_of_its_own()
    job_id = accepted(backend, world).job_id
    tombstone = backend.jobs.apply(job_id, deletion.delete_open(job_id, world.moment()))
    world.clock.advance(126)
    assert backend.jobs.purge(job_id, deletion.purge(tombstone, world.moment()))
    backend.snapshots.write_snapshot(Snapshot(taken_at=1, backlog=2, orphans_seen_until="originals/"))
    changes = backend.changes()
    assert backend.outbox.owed(stretch(changes[2], changes[-1])) == {}


def test_a_refused_transition_leaves_no_record_in_the_stream(backend: Backend) -> None:
    world = world_of_its_own()
    job_id = accepted(backend, world).job_id
    claim = attempt.claim(job_id, world.moment())
    backend.jobs.apply(job_id, claim)
    backend.jobs.apply(job_id, claim)
    assert len(backend.changes()) == 2


def test_a_stretch_whose_end_does_not_come_is_not_called_read(backend: Backend) -> None:
    world = world_of_its_own()
    accepted(backend, world)
    (change,) = backend.changes()
    beyond = change._replace(sequence_number=change.sequence_number + "9")
    assert backend.outbox.owed(stretch(change, beyond)) is None


def test_jobs_are_found_by_status_whoever_owns_them_and_deleted_ones_as_well(backend: Backend) -> None:
    world = world_of_its_own()
    queued, running, deleted = (accepted(backend, world).job_id for _ in range(3))
    backend.jobs.apply(running, attempt.claim(running, world.moment()))
    backend.jobs.apply(deleted, deletion.delete_open(deleted, world.moment()))

    found = {status: list(backend.by_status.with_status(status)) for status in Status}
    assert [summary.job_id for summary in found[Status.QUEUED]] == [queued]
    assert [summary.job_id for summary in found[Status.RUNNING]] == [running]
    (tombstone,) = found[Status.FAILED]
    assert (tombstone.job_id, tombstone.deleted_at) == (deleted, world.clock.now())
    assert found[Status.SUCCEEDED] == []


def test_the_snapshot_is_no_job_of_any_status(backend: Backend) -> None:
    world = world_of_its_own()
    job = accepted(backend, world)
    backend.snapshots.write_snapshot(Snapshot(taken_at=1, backlog=2, orphans_seen_until="originals/"))
    found = [summary for status in Status for summary in backend.by_status.with_status(status)]
    assert [summary.job_id for summary in found] == [job.job_id]
