"""Acceptance on the twins, with every step failing before and after its effect."""

from __future__ import annotations

import pytest

from tests.world import SMALL, World
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import DependencyUnavailableError, FailureCode, PermanentError
from thumbline.domain.job import Status
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.domain.transitions.deletion import delete_open
from thumbline.service.accept_image import IdempotencyKeyReusedError
from thumbline.service.read_job import JobGoneError

STEPS = ["find_record", "put_original", "accept"]


@pytest.fixture
def world() -> World:
    return World()


def test_a_job_is_accepted_with_everything_that_it_owes(world: World) -> None:
    """S3, S11, S129."""
    events: list[str] = []
    world.faults.watch = events.append
    accepted = world.submit(b"pixels", presets=(DEFAULT_PRESET, SMALL))
    world.faults.watch = None
    assert events == [f"{when} {step}" for step in STEPS for when in ("before", "after")]
    job = world.job(accepted.job_id)
    now = world.clock.now()
    assert not accepted.replayed
    assert job.status is Status.QUEUED
    assert (job.owner, job.content_type, job.byte_length) == ("alice", "image/jpeg", 6)
    assert job.object_key == f"originals/{job.job_id}"
    assert world.objects.objects[job.object_key].data == b"pixels"
    assert job.presets == (DEFAULT_PRESET, SMALL)
    assert (job.created_at, job.available_at, job.deadline_at) == (now, now, now + 86_400_000)
    assert (job.attempts, job.fencing_token, job.generation, job.outbox_seq) == (0, 0, 1, 1)
    assert job.next_check_at == now + 300_000
    assert job.expires_at is None  # TTL never touches an open row


def test_the_same_key_replays_the_same_job_and_stores_nothing(world: World) -> None:
    """S24."""
    first = world.submit()
    objects, rows = dict(world.objects.objects), dict(world.tables.rows)
    world.clock.advance(3_600)
    again = world.submit()
    assert (again.job_id, again.replayed) == (first.job_id, True)
    assert world.objects.objects == objects
    assert world.tables.rows == rows


@pytest.mark.parametrize(
    "changed", [{"body": b"other"}, {"content_type": "image/png"}, {"presets": (DEFAULT_PRESET, SMALL)}]
)
def test_the_same_key_with_another_payload_changes_nothing(world: World, changed: dict[str, object]) -> None:
    """I6."""
    first = world.submit()
    before = (dict(world.objects.objects), dict(world.tables.rows))
    with pytest.raises(IdempotencyKeyReusedError):
        world.submit(**changed)  # type: ignore[arg-type]
    assert (world.objects.objects, world.tables.rows) == before
    assert world.submit().job_id == first.job_id


def test_keys_are_scoped_to_their_owner(world: World) -> None:
    assert world.submit(owner="alice").job_id != world.submit(owner="bob").job_id


def test_a_key_is_free_again_after_its_day_even_if_ttl_is_late(world: World) -> None:
    first = world.submit()
    world.clock.advance(86_400 - 1)
    assert world.submit().job_id == first.job_id
    world.clock.advance(1)
    assert world.submit().job_id != first.job_id


def test_the_key_of_a_deleted_job_answers_gone(world: World) -> None:
    job_id = world.submit().job_id
    world.tables.apply(job_id, delete_open(job_id, world.moment()))
    with pytest.raises(JobGoneError):
        world.submit()


def test_an_empty_body_is_refused_before_anything_is_stored(world: World) -> None:
    """I11."""
    with pytest.raises(PermanentError, match="empty") as refused:
        world.submit(b"")
    assert refused.value.code is FailureCode.EMPTY
    assert not world.objects.objects
    assert not world.tables.rows


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("step", STEPS)
def test_after_an_unknown_outcome_the_same_key_returns_the_one_job(
    world: World, step: str, fault: Fault
) -> None:
    """S6: whatever step failed, before its effect or after it, there is one job in the end."""
    world.faults.plan(step, fault)
    with pytest.raises(DependencyUnavailableError):
        world.submit()
    retried = world.submit()
    assert list(world.tables.rows) == [retried.job_id]
    assert retried.replayed == (step == "accept" and fault is Fault.ANSWER_LOST)
    world.relay()
    world.work()
    assert world.job(retried.job_id).status is Status.SUCCEEDED


def test_acceptance_does_not_need_a_queue(world: World) -> None:
    """S2: the work queue is unreachable when the client posts; the job runs later."""
    world.faults.plan("work_queue.send", Fault.REFUSED)
    job_id = world.submit().job_id
    assert world.relay().failed
    world.clock.advance(301)
    world.reconcile()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED
