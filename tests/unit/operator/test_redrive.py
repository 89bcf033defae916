"""`thumbline redrive`: the row first, with who and when; the copy last; nothing without a yes."""

from __future__ import annotations

import pytest

from tests.unit.operator.command import Terminal, exhausted, failed_for_good, jobs_of, succeeded
from tests.world import World
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Status
from thumbline.domain.keys import job_id as make_job_id
from thumbline.domain.messages import OutgoingMessage
from thumbline.service.browse_dead_letters import remove_spent_copies
from thumbline.service.delete_job import delete_job
from thumbline.service.redrive_job import redrive_job
from tools.operator.errors import NotConfirmedError, OperatorError

UNKNOWN = make_job_id(0, 1)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    paused: list[float] = []
    monkeypatch.setattr("tools.operator.redrive.time.sleep", paused.append)
    return paused


def test_a_redriven_job_runs_again_and_says_who_did_it(world: World) -> None:
    job_id = exhausted(world)
    terminal = Terminal(world, reply="y\n")
    document = terminal.json("redrive", job_id)

    assert document == {
        "dry_run": False,
        "operator": "arn:aws:iam::123456789012:user/ada",
        "jobs": [{"job_id": job_id, "outcome": "redriven"}],
        "copies_removed": 1,
    }
    assert terminal.questions == [
        "Redrive 1 job of the test stage as arn:aws:iam::123456789012:user/ada? [y/N] "
    ]
    assert not world.dead_letters.messages
    (entry,) = world.job(job_id).trace
    assert entry == {
        "event": "redrive",
        "at": world.clock.now(),
        "by": "arn:aws:iam::123456789012:user/ada",
        "generation": 2,
    }
    world.relay()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


def test_the_row_goes_before_the_copy(world: World) -> None:
    """A crash in between leaves a copy that a later look removes, never a lost job."""
    job_id = exhausted(world)
    operations: list[str] = []
    world.faults.watch = operations.append

    Terminal(world).type("redrive", job_id, "--yes")

    assert operations.index("after redrive") < operations.index("before dead_letters.delete")


def test_all_copies_of_the_job_go_and_those_of_others_stay(world: World) -> None:
    job_id, other = exhausted(world, "one"), exhausted(world, "two")
    world.dead_letters.send([OutgoingMessage("{}", {"job_id": job_id, "generation": 2})])

    terminal = Terminal(world)
    assert terminal.json("redrive", job_id, "--yes")["copies_removed"] == 2
    # The job is QUEUED under generation 2: not even a copy of that generation can be of use.
    assert [copy["job_id"] for copy in terminal.json("dlq", "list")["copies"]] == [other]


def test_a_job_that_has_failed_again_meanwhile_keeps_its_new_copy(world: World) -> None:
    job_id = exhausted(world)
    world.dead_letters.send([OutgoingMessage("{}", {"job_id": job_id, "generation": 0})])

    assert remove_spent_copies({job_id}, world.dead_letters, world.tables, 10) == 1
    (kept,) = world.dead_letters.receive(10)
    assert kept.attributes["generation"] == "1"


def test_a_deleted_job_is_not_meant_by_its_code(world: World) -> None:
    job_id = failed_for_good(world, FailureCode.TRUNCATED, "t")
    delete_job(job_id, "alice", world.deletion)

    assert Terminal(world).json("redrive", "--code", "truncated", "--dry-run")["jobs"] == []


def test_an_exhausted_job_that_lost_its_copy_is_redriven_by_its_code(world: World) -> None:
    """The cure after an outage that took the copies, too: docs/runbooks/lost-relay-failures.md."""
    job_id = exhausted(world)
    world.dead_letters.messages.clear()

    document = Terminal(world, reply="y\n").json("redrive", "--code", "attempts_exhausted")

    assert document["jobs"] == [{"job_id": job_id, "outcome": "redriven"}]
    assert document["copies_removed"] == 0
    world.relay()
    world.work()
    assert world.job(job_id).status is Status.SUCCEEDED


@pytest.mark.parametrize("reply", ["no\n", None])
def test_nothing_is_redriven_without_a_yes(world: World, reply: str | None) -> None:
    job_id = exhausted(world)

    with pytest.raises(NotConfirmedError):
        Terminal(world, reply=reply).type("redrive", job_id)
    assert world.job(job_id).generation == 1


def test_a_dry_run_names_the_jobs_and_changes_nothing(world: World) -> None:
    job_id = exhausted(world)
    rows = dict(world.tables.rows)

    terminal = Terminal(world)
    (shown,) = terminal.json("redrive", job_id, "--dry-run")["jobs"]
    assert (shown["job_id"], shown["code"], shown["generation"]) == (job_id, "attempts_exhausted", 1)
    assert terminal.type("redrive", job_id, "--dry-run").endswith("Nothing was changed.\n")
    with pytest.raises(OperatorError, match=f"has no job {UNKNOWN}"):
        terminal.type("redrive", job_id, UNKNOWN, "--dry-run")
    assert world.tables.rows == rows
    assert world.dead_letters.depth().visible == 1


def test_a_code_takes_the_failed_jobs_with_it_and_no_others(world: World, pauses: list[float]) -> None:
    """A permanent failure, after the renderer was mended."""
    truncated = [failed_for_good(world, FailureCode.TRUNCATED, f"t{number}") for number in range(3)]
    others = [
        failed_for_good(world, FailureCode.CORRUPT, "c"),
        exhausted(world, "e"),
        succeeded(world, "s"),
    ]

    document = Terminal(world).json("redrive", "--code", "truncated", "--pace", "4/s", "--yes")

    assert [job["job_id"] for job in document["jobs"]] == truncated
    assert [job.generation for job in jobs_of(world, truncated)] == [2, 2, 2]
    assert [job.generation for job in jobs_of(world, others)] == [1, 1, 1]
    assert pauses == [0.25, 0.25]


def test_an_age_counts_from_the_failure_and_alone_means_exhausted_jobs(world: World) -> None:
    old = exhausted(world, "old")
    failed_for_good(world, FailureCode.TRUNCATED, "client's fault")
    world.clock.advance(3600)
    new = exhausted(world, "new")

    document = Terminal(world).json("redrive", "--older-than", "50m", "--yes")

    assert [job["job_id"] for job in document["jobs"]] == [old]
    assert world.job(new).status is Status.FAILED


def test_a_code_and_an_age_narrow_each_other(world: World) -> None:
    old = failed_for_good(world, FailureCode.TRUNCATED, "old")
    world.clock.advance(3600)
    failed_for_good(world, FailureCode.TRUNCATED, "new")

    document = Terminal(world).json("redrive", "--code", "truncated", "--older-than", "50m", "--dry-run")

    assert [job["job_id"] for job in document["jobs"]] == [old]


def test_nothing_meant_is_no_error_and_no_question(world: World) -> None:
    assert Terminal(world).type("redrive", "--code", "expired") == "No job of the test stage is meant.\n"


def test_what_was_not_redriven_is_named_and_the_rest_goes_on(world: World, pauses: list[float]) -> None:
    job_id, done = exhausted(world), succeeded(world)
    terminal = Terminal(world)

    with pytest.raises(OperatorError, match="2 of 3 jobs not redriven"):
        terminal.type("redrive", UNKNOWN, done, job_id, "--yes")
    assert world.job(job_id).generation == 2
    assert world.job(done).status is Status.SUCCEEDED
    assert len(pauses) == 2


def test_a_lost_answer_is_unclear_and_stops_nothing(world: World, pauses: list[float]) -> None:
    first, second = exhausted(world, "one"), exhausted(world, "two")
    world.faults.plan("redrive", Fault.ANSWER_LOST)

    with pytest.raises(OperatorError, match="1 of 2 jobs not redriven"):
        Terminal(world).type("redrive", first, second, "--yes")
    assert [job.generation for job in jobs_of(world, [first, second])] == [2, 2]
    assert len(pauses) == 1
    assert Terminal(world).json("dlq", "list")["copies"] == []


def test_a_row_that_was_not_written_keeps_its_copy(world: World, pauses: list[float]) -> None:
    first, second = exhausted(world, "one"), exhausted(world, "two")
    world.faults.plan("redrive", Fault.REFUSED)

    with pytest.raises(OperatorError, match="1 of 2 jobs not redriven"):
        Terminal(world).type("redrive", first, second, "--yes")
    assert len(pauses) == 1
    assert [copy["job_id"] for copy in Terminal(world).json("dlq", "list")["copies"]] == [first]


def test_the_same_command_again_removes_what_a_dead_one_left(world: World) -> None:
    """It died between the row and the copy, and the job has succeeded since."""
    job_id = exhausted(world)
    redriver = world.redriver()
    redrive_job(job_id, redriver)
    world.relay()
    world.work()

    with pytest.raises(OperatorError, match="1 of 1 job not redriven"):
        Terminal(world).type("redrive", job_id, "--yes")
    assert not world.dead_letters.messages


def test_what_a_killed_run_left_goes_with_the_next_jobs(world: World) -> None:
    killed, other = exhausted(world, "one"), exhausted(world, "two")
    redrive_job(killed, world.redriver())

    assert Terminal(world).json("redrive", other, "--yes")["copies_removed"] == 2
    assert not world.dead_letters.messages


def test_an_interrupted_run_tells_what_it_did_and_leaves_no_spent_copy(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [exhausted(world, name) for name in ("one", "two", "three")]
    paused: list[float] = []

    def interrupted(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("tools.operator.redrive.time.sleep", interrupted)
    terminal = Terminal(world)
    with pytest.raises(KeyboardInterrupt):
        terminal.type("redrive", "--code", "attempts_exhausted", "--yes")
    assert [job.generation for job in jobs_of(world, jobs)].count(2) == 2
    assert "2 of 3 jobs redriven; 2 copies removed." in terminal.shown
    (left,) = Terminal(world).json("dlq", "list")["copies"]
    assert world.job(left["job_id"]).generation == 1


def test_outcomes_are_told_where_the_copies_cannot_be_looked_at(world: World) -> None:
    job_id = exhausted(world)
    world.faults.plan("dead_letters.receive", Fault.REFUSED)
    terminal = Terminal(world)

    with pytest.raises(OperatorError, match="spent copies stay"):
        terminal.type("redrive", job_id, "--yes")
    assert f"{job_id}  redriven" in terminal.shown
    assert world.job(job_id).generation == 2


def test_a_spent_copy_of_a_message_that_nobody_understood_goes_with_its_job_alone(world: World) -> None:
    done, other = world.queued(b"1", "one"), exhausted(world, "two")
    world.work()
    world.dead_letters.send([OutgoingMessage("{}", {"job_id": done})])

    Terminal(world).type("redrive", other, "--yes")
    (kept,) = Terminal(world).json("dlq", "list")["copies"]
    assert kept["job_id"] == done
    with pytest.raises(OperatorError):
        Terminal(world).type("redrive", done, "--yes")
    assert not world.dead_letters.messages


def test_a_job_named_twice_is_redriven_once(world: World, pauses: list[float]) -> None:
    job_id = exhausted(world)

    assert len(Terminal(world).json("redrive", job_id, job_id, "--yes")["jobs"]) == 1
    assert pauses == []
