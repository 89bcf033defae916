"""`thumbline jobs`: the row as it is, why it waits, and lists over all owners."""

from __future__ import annotations

import pytest

from tests.unit.operator.command import Terminal, exhausted, succeeded
from tests.world import World, lost_message
from thumbline.domain.errors import FailureCode, TransientError
from thumbline.domain.keys import job_id as make_job_id
from thumbline.domain.snapshot import Snapshot
from thumbline.domain.transitions.attempt import claim
from thumbline.domain.transitions.recovery import republish
from thumbline.service.delete_job import delete_job
from tools.chaos.universe import TIMINGS
from tools.operator.errors import OperatorError

UNKNOWN = make_job_id(0, 1)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def terminal(world: World) -> Terminal:
    return Terminal(world)


def why(terminal: Terminal, job_id: str) -> tuple[str, str]:
    document = terminal.json("jobs", "why", job_id)
    assert document["sentence"] in terminal.type("jobs", "why", job_id)
    return document["reason"], document["sentence"]


def test_a_row_is_shown_whole(world: World, terminal: Terminal) -> None:
    job_id = succeeded(world)
    document = terminal.json("jobs", "show", job_id)["job"]
    text = terminal.type("jobs", "show", job_id)

    assert document["status"] == "SUCCEEDED"
    assert document["created_at"] == "2023-11-14T22:13:20.000Z"
    assert document["results"]["thumbnail"]["key"].startswith(f"thumbnails/{job_id}/")
    assert set(document) == set(world.job(job_id).to_row())
    for name in document:
        assert f"\n{name} " in f"\n{text}"


@pytest.mark.parametrize("action", ["show", "why"])
def test_an_unknown_id_is_one_sentence(terminal: Terminal, action: str) -> None:
    with pytest.raises(OperatorError) as caught:
        terminal.type("jobs", action, UNKNOWN)
    assert str(caught.value) == (
        f"the test stage has no job {UNKNOWN}: it was never accepted there, or its row is gone, because it"
        " was deleted or its retention is over."
    )


def test_jobs_of_a_status_are_listed_newest_first(world: World, terminal: Terminal) -> None:
    old, failed = succeeded(world, "k1"), exhausted(world, "k2")
    world.clock.advance(60)
    new = succeeded(world, "k3")

    listed = terminal.json("jobs", "list", "--status", "succeeded")["jobs"]
    assert [job["job_id"] for job in listed] == [new, old]
    assert listed[0].keys() == {"job_id", "status", "created_at", "finished_at", "deleted_at"}
    assert [job["job_id"] for job in terminal.json("jobs", "list", "--status", "FAILED")["jobs"]] == [failed]
    lines = terminal.type("jobs", "list", "--status", "SUCCEEDED", "--limit", "1").splitlines()
    assert [line.split()[0] for line in lines] == ["JOB", new]
    assert terminal.type("jobs", "list", "--status", "RUNNING") == "No job is RUNNING.\n"


def test_a_finished_job_waits_for_nothing(world: World, terminal: Terminal) -> None:
    assert why(terminal, succeeded(world))[0] == "succeeded"
    reason, sentence = why(terminal, exhausted(world))
    assert reason == "failed"
    assert "(attempts_exhausted: " in sentence


def test_a_deleted_job_is_called_deleted(world: World, terminal: Terminal) -> None:
    job_id = succeeded(world)
    delete_job(job_id, "alice", world.deletion)

    reason, sentence = why(terminal, job_id)
    assert reason == "deleted"
    assert "its row goes in " in sentence


def test_a_job_in_the_backlog_says_how_long_it_has_waited(world: World, terminal: Terminal) -> None:
    job_id = world.queued()
    world.queued(key="k2")
    world.clock.advance(45)

    reason, sentence = why(terminal, job_id)
    assert reason == "backlog"
    assert sentence.startswith("It has been in the backlog of 2 messages for 45 s; ")
    assert "publishes it again in 255 s" not in sentence  # two units at most
    assert "publishes it again in 4 min, at 2023-11-14T22:18:20.000Z" in sentence


def test_a_job_without_any_message_says_so(world: World, terminal: Terminal) -> None:
    job_id = lost_message(world)

    reason, sentence = why(terminal, job_id)
    assert reason == "no_message"
    assert "has no message in the work queue" in sentence


def test_a_job_that_has_waited_longer_than_the_backlog_explains_has_lost_its_message(
    world: World, terminal: Terminal
) -> None:
    job_id = lost_message(world)
    world.queued(key="another")
    world.clock.advance(TIMINGS.queued_patience_seconds)
    keep_snapshot(world, expected_wait_ms=1_000)
    reason, sentence = why(terminal, job_id)
    assert reason == "message_lost"
    assert "longer than the backlog of 1 messages explains: its message is probably lost" in sentence
    assert sentence.endswith("and the reconciler publishes it again within a minute.")

    keep_snapshot(world, expected_wait_ms=TIMINGS.queued_patience_seconds * 1000)
    assert why(terminal, job_id)[0] == "backlog"


def test_a_job_that_was_just_published_again_is_in_the_backlog_until_its_next_check(
    world: World, terminal: Terminal
) -> None:
    job_id = lost_message(world)
    world.clock.advance(TIMINGS.queued_patience_seconds)
    world.tables.apply(job_id, republish(world.job(job_id), world.moment()))
    world.queued(key="what stands for the message that was published")
    keep_snapshot(world, expected_wait_ms=1_000)
    reason, sentence = why(terminal, job_id)
    assert reason == "backlog"
    assert "if its own is lost, the reconciler publishes it again in " in sentence

    next_check_at = world.job(job_id).next_check_at
    assert next_check_at is not None
    world.clock.advance((next_check_at - world.clock.now()) / 1000)
    keep_snapshot(world, expected_wait_ms=1_000)
    assert why(terminal, job_id)[0] == "message_lost"


def test_a_backlog_that_nobody_works_on_is_named(world: World, terminal: Terminal) -> None:
    job_id = world.queued()
    keep_snapshot(world, expected_wait_ms=None)
    reason, sentence = why(terminal, job_id)

    assert reason == "nobody_works"
    assert sentence.startswith(
        "1 messages wait, and the reconciler's last pass found no job that runs from its first message: "
    )
    assert terminal.json("jobs", "why", job_id)["until"] is None

    world.clock.advance(181)
    assert why(terminal, job_id)[0] == "backlog", "a stale snapshot says nothing"


def test_a_message_that_may_be_hidden_is_not_called_lost(world: World, terminal: Terminal) -> None:
    job_id = world.queued()
    world.work_queue.receive(1)

    reason, sentence = why(terminal, job_id)
    assert reason == "in_flight"
    assert "No message is visible and 1 are hidden" in sentence


def test_a_working_a_lost_and_a_spent_attempt_are_told_apart(world: World, terminal: Terminal) -> None:
    job_id = world.queued()
    world.tables.apply(job_id, claim(job_id, world.moment()))
    reason, sentence = why(terminal, job_id)
    assert reason == "working"
    assert "(attempt 1 of 5) under a lease that ends in 35 s" in sentence

    world.clock.advance(TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1)
    reason, sentence = why(terminal, job_id)
    assert reason == "worker_lost"
    assert "the reconciler rescues the job in 59 s" in sentence

    for _ in range(TIMINGS.attempt_cap - 1):
        world.tables.apply(job_id, claim(job_id, world.moment()))
        world.clock.advance(TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1)
    reason, sentence = why(terminal, job_id)
    assert reason == "attempts_spent"
    assert sentence.startswith("Its 5 attempts are spent")


def test_a_backoff_names_the_next_try_and_the_cause(world: World, terminal: Terminal) -> None:
    def crash() -> None:
        raise TransientError(FailureCode.RENDER_CRASHED, "The renderer died")

    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = crash
    world.clock.advance(1)
    world.jitter = 1.0
    world.work()

    reason, sentence = why(terminal, job_id)
    assert reason == "backoff"
    assert "after attempt 1: the next try is due in " in sentence
    assert "(render_crashed: The renderer died)" in sentence


def test_a_job_past_its_deadline_says_who_ends_it(world: World, terminal: Terminal) -> None:
    job_id = world.queued()
    world.clock.advance(TIMINGS.deadline_seconds + 1)

    reason, sentence = why(terminal, job_id)
    assert reason == "past_deadline"
    assert "fails it as expired" in sentence


def keep_snapshot(world: World, *, expected_wait_ms: int | None) -> None:
    world.tables.write_snapshot(
        Snapshot(
            taken_at=world.clock.now(), backlog=1, orphans_seen_until="", expected_wait_ms=expected_wait_ms
        )
    )
