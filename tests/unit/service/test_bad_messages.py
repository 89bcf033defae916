"""Messages that nobody can understand: a look at the row, a copy for a person, the row, then the ack."""

from __future__ import annotations

import json

import pytest

from tests.world import World, outcomes
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Status
from thumbline.domain.transitions.attempt import claim, complete, extend_lease
from thumbline.service.worker import Outcome


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "not JSON"),
        ("plain text", "not JSON"),
        pytest.param("[" * 200_000, "not JSON", id="nested too deeply"),
        ("[]", "not a JSON object"),
        ('{"Records": null}', "schema_version is None"),
        ('{"schema_version": 2}', "schema_version is 2"),
        ('{"schema_version": 1, "job_id": "../../etc"}', "job_id"),
        ('{"schema_version": 1, "job_id": ["' + "x" * 500 + '"]}', "job_id"),
    ],
)
def test_a_malformed_message_goes_to_the_dead_letter_queue_at_once(
    world: World, body: str, reason: str
) -> None:
    """S110, S112."""
    world.send_to_work_queue(body)
    report = world.work()
    assert outcomes(report) == [Outcome.REJECTED]
    assert not world.work_queue.messages
    (copy,) = world.dead_letters.messages.values()
    assert copy.message.attributes["code"] == "bad_message"
    assert reason in str(copy.message.attributes["reason"])
    assert len(str(copy.message.attributes["reason"])) < 200


def test_an_unknown_schema_version_fails_the_job_that_it_names(world: World) -> None:
    job_id = world.submit().job_id
    body = json.dumps({"schema_version": 99, "job_id": job_id, "object_key": f"originals/{job_id}"})
    world.send_to_work_queue(body)
    assert outcomes(world.work()) == [Outcome.REJECTED]
    failure = world.job(job_id).failure
    assert failure is not None
    assert failure.code is FailureCode.BAD_MESSAGE
    (copy,) = world.dead_letters.messages.values()
    assert copy.message.attributes["job_id"] == job_id
    assert copy.message.body == body


@pytest.mark.parametrize("row", ["missing", "succeeded"])
def test_a_bad_message_of_a_job_that_needs_nothing_is_copied_and_acknowledged(world: World, row: str) -> None:
    job_id = world.queued()
    world.work()
    if row == "missing":
        world.tables.rows.clear()
    rows = dict(world.tables.rows)
    world.send_to_work_queue(json.dumps({"schema_version": 99, "job_id": job_id}))
    assert outcomes(world.work()) == [Outcome.REJECTED]
    assert not world.work_queue.messages
    assert len(world.dead_letters.messages) == 1
    assert world.tables.rows == rows


def test_a_bad_message_takes_no_live_attempt_away(world: World) -> None:
    job_id = world.submit().job_id
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.send_to_work_queue(json.dumps({"schema_version": 99, "job_id": job_id}))
    assert outcomes(world.work()) == [Outcome.BOUNCED]
    assert world.job(job_id).status is Status.RUNNING
    assert len(world.work_queue.messages) == 1  # it may be the job's only one (I10)
    world.clock.advance(40)
    assert outcomes(world.work()) == [Outcome.REJECTED]
    assert not world.work_queue.messages
    assert world.job(job_id).status is Status.FAILED


def test_a_bad_message_that_bounces_leaves_no_copy_until_it_is_acknowledged(world: World) -> None:
    job_id = world.submit().job_id
    claimed = world.tables.apply(job_id, claim(job_id, world.moment()))
    world.send_to_work_queue(json.dumps({"schema_version": 99, "job_id": job_id}))
    for _ in range(5):
        assert outcomes(world.work()) == [Outcome.BOUNCED]
        assert not world.dead_letters.messages
        world.tables.apply(job_id, extend_lease(claimed.fencing_token, world.moment()))
        world.clock.advance(38)
        world.tables.apply(job_id, extend_lease(claimed.fencing_token, world.moment()))
    world.tables.apply(job_id, complete(job_id, claimed.fencing_token, {}, world.moment()))
    world.clock.advance(40)
    assert outcomes(world.work()) == [Outcome.REJECTED]
    assert not world.work_queue.messages
    assert len(world.dead_letters.messages) == 1
    assert world.job(job_id).status is Status.SUCCEEDED


def test_a_claim_between_the_look_and_the_write_keeps_the_message(world: World) -> None:
    job_id = world.submit().job_id
    world.send_to_work_queue(json.dumps({"schema_version": 99, "job_id": job_id}))

    def overtake(event: str) -> None:
        if event == "before dead_letters.send":
            world.faults.watch = None
            world.tables.apply(job_id, claim(job_id, world.moment()))

    world.faults.watch = overtake
    assert outcomes(world.work()) == [Outcome.BOUNCED]
    assert world.job(job_id).status is Status.RUNNING
    assert len(world.work_queue.messages) == 1
    world.clock.advance(40)
    assert outcomes(world.work()) == [Outcome.REJECTED]
    assert len(world.dead_letters.messages) == 2  # one more for each time that it was overtaken


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize(("operation", "copies"), [("get", 0), ("reject_message", 1)])
def test_a_bad_message_outlives_a_table_that_does_not_answer(
    world: World, operation: str, copies: int, fault: Fault
) -> None:
    job_id = world.submit().job_id
    world.send_to_work_queue(json.dumps({"schema_version": 99, "job_id": job_id}))
    world.faults.plan(operation, fault)
    assert outcomes(world.work()) == [Outcome.UNREADABLE]
    assert len(world.work_queue.messages) == 1
    assert len(world.dead_letters.messages) == copies
    world.clock.advance(60)
    assert outcomes(world.work()) == [Outcome.REJECTED]
    assert not world.work_queue.messages
    assert len(world.dead_letters.messages) == copies + 1
    assert world.job(job_id).status is Status.FAILED


def test_a_bad_message_stays_until_its_copy_is_confirmed(world: World) -> None:
    world.send_to_work_queue("junk")
    world.faults.plan("dead_letters.send", Fault.REFUSED)
    report = world.work()
    assert outcomes(report) == [Outcome.UNREADABLE]
    assert len(world.work_queue.messages) == 1
