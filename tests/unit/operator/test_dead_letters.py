"""`thumbline dlq`: copies are looked at without being kept from others, and go only when somebody says so."""

from __future__ import annotations

import pytest

from tests.unit.operator.command import Terminal, exhausted
from tests.world import World
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Status
from thumbline.domain.messages import OutgoingMessage
from tools.operator.errors import NotConfirmedError, OperatorError


@pytest.fixture
def world() -> World:
    return World()


def visible(world: World) -> int:
    return world.dead_letters.depth().visible


def test_copies_are_listed_and_visible_again_at_once(world: World) -> None:
    job_id = exhausted(world)
    world.dead_letters.send([OutgoingMessage("no JSON", {"code": "bad_message", "reason": "odd"})])
    terminal = Terminal(world)

    first, second = terminal.json("dlq", "list")["copies"]

    assert (first["job_id"], first["code"], first["attempts"]) == (job_id, "attempts_exhausted", 5)
    assert (first["last_error"], first["generation"]) == ("render_crashed", 1)
    assert (second["job_id"], second["code"], second["body"]) == (None, "bad_message", "no JSON")
    assert visible(world) == 2
    lines = terminal.type("dlq", "list").splitlines()
    assert [line.split()[0] for line in lines] == ["JOB", job_id, "-"]


def test_a_look_costs_each_copy_one_receive(world: World) -> None:
    for number in range(25):
        world.dead_letters.send([OutgoingMessage(str(number))])

    assert len(Terminal(world).json("dlq", "list")["copies"]) == 25
    assert {stored.receive_count for stored in world.dead_letters.messages.values()} == {1}
    assert len(Terminal(world).json("dlq", "list", "--limit", "12")["copies"]) == 12
    assert visible(world) == 25


def test_a_copy_that_comes_twice_is_listed_once_and_given_back(world: World) -> None:
    world.dead_letters.send([OutgoingMessage("x")])
    world.dead_letters.habits.delivered_twice = 1.0

    assert len(Terminal(world).json("dlq", "list")["copies"]) == 1
    assert visible(world) == 1


def test_an_empty_queue_is_said_to_be_empty(world: World) -> None:
    assert Terminal(world).type("dlq", "list") == "The dead-letter queue of the test stage is empty.\n"
    assert Terminal(world).json("dlq", "list") == {"copies": []}


def test_one_copy_is_shown_by_either_name(world: World) -> None:
    job_id = exhausted(world)
    (copy,) = Terminal(world).json("dlq", "show", job_id)["copies"]

    assert Terminal(world).json("dlq", "show", copy["message_id"])["copies"][0]["job_id"] == job_id
    assert "render_crashed" in Terminal(world).type("dlq", "show", job_id)
    with pytest.raises(OperatorError, match="No copy of nothing is visible among the first 200"):
        Terminal(world).type("dlq", "show", "nothing")
    assert visible(world) == 1


def test_discarding_takes_what_is_named_and_nothing_else(world: World) -> None:
    job_id, other = exhausted(world, "one"), exhausted(world, "two")
    terminal = Terminal(world, reply="yes\n")

    assert terminal.type("dlq", "discard", job_id) == "1 discarded; their jobs stay FAILED.\n"

    assert terminal.questions == [
        f"Delete the copies of {job_id} from the dead-letter queue of the test stage? [y/N] "
    ]
    assert [copy["job_id"] for copy in terminal.json("dlq", "list")["copies"]] == [other]
    assert world.job(job_id).status is Status.FAILED


@pytest.mark.parametrize("reply", ["", "n\n", "yess\n", None])
def test_nothing_is_discarded_without_a_yes(world: World, reply: str | None) -> None:
    job_id = exhausted(world)

    with pytest.raises(NotConfirmedError, match="--yes" if reply is None else "Nothing was changed"):
        Terminal(world, reply=reply).type("dlq", "discard", job_id)
    assert visible(world) == 1


def test_a_name_that_is_no_copys_is_reported_after_the_others_went(world: World) -> None:
    job_id = exhausted(world)

    with pytest.raises(OperatorError, match="No copy of typo is visible"):
        Terminal(world).type("dlq", "discard", job_id, "typo", "--yes")
    assert visible(world) == 0


def test_an_error_in_between_gives_the_copies_back(world: World) -> None:
    job_id = exhausted(world, "one")
    exhausted(world, "two")
    world.faults.plan("dead_letters.delete", Fault.REFUSED)

    with pytest.raises(DependencyUnavailableError):
        Terminal(world).type("dlq", "discard", job_id, "--yes")
    assert visible(world) == 2
