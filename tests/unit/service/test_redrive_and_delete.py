"""Redrive and delete on the twins, each with its neighbours: late workers, redeliveries, stale copies."""

from __future__ import annotations

import pytest

from tests.world import World, outcomes, request_for
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import DependencyUnavailableError, FailureCode, PermanentError, TransientError
from thumbline.domain.job import Status
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.transitions.attempt import claim
from thumbline.service.delete_job import delete_job
from thumbline.service.read_job import JobGoneError, JobNotFoundError
from thumbline.service.redrive_job import Redriven, redrive_copy, redrive_job
from thumbline.service.worker import Outcome
from tools.chaos.universe import TIMINGS


@pytest.fixture
def world() -> World:
    return World()


def crash() -> None:
    raise TransientError(FailureCode.RENDER_CRASHED, "died")


def exhausted(world: World) -> str:
    """A job whose annotated copy is in the dead-letter queue."""
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = crash
    for _ in range(TIMINGS.attempt_cap):
        world.work()
        world.clock.advance(120)
    assert world.relay().copied == 1
    del world.renderer.behaviours[b"bad"]
    return job_id


def test_a_redrive_succeeds_after_the_fix(world: World) -> None:
    """S117."""
    job_id = exhausted(world)
    (copy,) = world.dead_letters.receive(10)
    assert redrive_copy(copy, world.redriver()) is Redriven.REDRIVEN
    assert not world.dead_letters.messages
    world.relay()
    world.work()
    job = world.job(job_id)
    assert (job.status, job.generation, job.attempts) == (Status.SUCCEEDED, 2, 1)
    assert job.trace[0]["by"] == "ops"


def test_each_life_tells_its_own_story(world: World) -> None:
    """The failure of the life before would be told as the new one's last error, one inside the other."""
    job_id = exhausted(world)
    for generation in (2, 3):
        (copy,) = world.dead_letters.receive(10)
        assert redrive_copy(copy, world.redriver()) is Redriven.REDRIVEN
        assert world.job(job_id).failure is None
        for _ in range(TIMINGS.attempt_cap):  # each attempt is killed and records nothing
            world.tables.apply(job_id, claim(job_id, world.moment()))
            world.clock.advance(36)
        world.clock.advance(60)
        world.reconcile()
        world.relay()
        (last,) = world.dead_letters.messages.values()
        assert last.message.attributes["generation"] == generation
        assert last.message.attributes["last_error"] == "none recorded"
        assert last.message.attributes["reason"] == (
            "The picture was not finished in 5 attempts; no error was recorded"
        )


def test_one_copy_redrives_once(world: World) -> None:
    """I9: a duplicate of the copy is refused, and removed."""
    job_id = exhausted(world)
    (copy,) = world.dead_letters.receive(10)
    world.dead_letters.send([OutgoingMessage(copy.body, dict(copy.attributes))])
    assert redrive_copy(copy, world.redriver()) is Redriven.REDRIVEN
    (duplicate,) = world.dead_letters.receive(10)
    assert redrive_copy(duplicate, world.redriver()) is Redriven.STALE
    assert not world.dead_letters.messages
    assert world.job(job_id).generation == 2


def test_a_redrive_of_a_job_that_has_meanwhile_succeeded_changes_nothing(world: World) -> None:
    job_id = exhausted(world)
    assert redrive_job(job_id, world.redriver()) is Redriven.REDRIVEN
    world.relay()
    world.work()
    before = world.tables.rows[job_id]
    (copy,) = world.dead_letters.receive(10)
    assert redrive_copy(copy, world.redriver()) is Redriven.STALE
    assert redrive_job(job_id, world.redriver()) is Redriven.STALE
    assert world.tables.rows[job_id] == before


@pytest.mark.parametrize("fault", list(Fault))
def test_a_copy_outlives_a_redrive_that_was_not_heard(world: World, fault: Fault) -> None:
    job_id = exhausted(world)
    (copy,) = world.dead_letters.receive(10)
    world.faults.plan("redrive", fault)
    with pytest.raises(DependencyUnavailableError):
        redrive_copy(copy, world.redriver())
    assert len(world.dead_letters.messages) == 1
    world.clock.advance(60)
    (copy,) = world.dead_letters.receive(10)
    redrive_copy(copy, world.redriver())
    assert (world.job(job_id).generation, world.job(job_id).status) == (2, Status.QUEUED)
    assert not world.dead_letters.messages


def test_a_permanent_failure_is_redriven_by_id_after_the_code_was_mended(world: World) -> None:
    def refuse() -> None:
        raise PermanentError(FailureCode.UNSUPPORTED_TYPE, "not yet")

    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = refuse
    world.work()
    world.renderer.behaviours.clear()
    assert redrive_job(job_id, world.redriver()) is Redriven.REDRIVEN
    world.relay()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


def test_a_bad_message_can_be_redriven_by_its_copy(world: World) -> None:
    job_id = world.submit().job_id
    world.send_to_work_queue(f'{{"schema_version": 9, "job_id": "{job_id}"}}')
    world.work()
    (copy,) = world.dead_letters.receive(10)
    assert redrive_copy(copy, world.redriver()) is Redriven.REDRIVEN
    world.relay()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


def test_a_copy_that_names_no_job_stays_and_one_without_a_row_goes(world: World) -> None:
    world.dead_letters.send([OutgoingMessage("junk", {"code": "bad_message"})])
    (copy,) = world.dead_letters.receive(10)
    assert redrive_copy(copy, world.redriver()) is Redriven.UNREADABLE
    assert len(world.dead_letters.messages) == 1
    missing = world.ids.job_id(world.clock.now())
    world.dead_letters.send([OutgoingMessage(request_for(missing))])
    (copy,) = world.dead_letters.receive(10)
    assert redrive_copy(copy, world.redriver()) is Redriven.MISSING
    assert len(world.dead_letters.messages) == 1
    assert redrive_job(missing, world.redriver()) is Redriven.MISSING


@pytest.mark.parametrize(
    ("state", "deliveries"),
    [("queued", [Outcome.SKIPPED]), ("running", [Outcome.SKIPPED]), ("succeeded", [])],
)
def test_a_deleted_job_is_gone_and_leaves_nothing(
    world: World, state: str, deliveries: list[Outcome]
) -> None:
    """Its message, where it still has one, is acknowledged."""
    job_id = world.queued()
    if state == "running":
        world.tables.apply(job_id, claim(job_id, world.moment()))
    if state == "succeeded":
        world.work()
    delete_job(job_id, "alice", world.deletion)
    assert not world.objects.objects
    with pytest.raises(JobGoneError):
        delete_job(job_id, "alice", world.deletion)
    world.clock.advance(TIMINGS.function_timeout_seconds + TIMINGS.skew_seconds)
    world.reconcile()
    assert not world.tables.rows
    assert outcomes(world.work()) == deliveries
    assert not world.work_queue.messages
    assert not world.objects.objects


def test_a_late_worker_of_a_deleted_job_leaves_nothing_behind(world: World) -> None:
    job_id = world.queued(b"slow")

    def delete_meanwhile() -> None:
        delete_job(job_id, "alice", world.deletion)

    world.renderer.behaviours[b"slow"] = delete_meanwhile
    assert outcomes(world.work()) == [Outcome.FENCED]
    assert len(world.objects.objects) == 1  # put after the first clean-up
    world.clock.advance(126)
    world.reconcile()
    assert not world.objects.objects
    assert not world.tables.rows


def test_a_deleted_job_is_never_redriven(world: World) -> None:
    job_id = exhausted(world)
    delete_job(job_id, "alice", world.deletion)
    before = world.tables.rows[job_id]
    (copy,) = world.dead_letters.receive(10)
    assert redrive_copy(copy, world.redriver()) is Redriven.STALE
    assert redrive_job(job_id, world.redriver()) is Redriven.STALE
    assert world.tables.rows[job_id] == before
    assert not world.dead_letters.messages


def test_a_foreign_job_is_not_found(world: World) -> None:
    job_id = world.queued()
    with pytest.raises(JobNotFoundError):
        delete_job(job_id, "bob", world.deletion)
    assert not world.job(job_id).is_deleted


def test_objects_that_could_not_be_removed_now_are_removed_later(world: World) -> None:
    job_id = world.queued()
    world.faults.plan("remove_all", Fault.REFUSED)
    delete_job(job_id, "alice", world.deletion)
    assert world.objects.objects
    world.clock.advance(126)
    world.reconcile()
    assert not world.objects.objects
