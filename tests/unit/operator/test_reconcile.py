"""`thumbline reconcile --dry-run`: what a pass would do, and then the pass does just that."""

from __future__ import annotations

import pytest

from tests.unit.operator.command import Terminal
from tests.world import World, lost_message, request_for
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.transitions.attempt import claim
from thumbline.service.reconcile.reconciler import Healed
from tools.chaos.universe import TIMINGS


def test_a_preview_names_what_the_pass_then_does() -> None:
    world = World()
    lost = lost_message(world)
    stuck = world.submit(b"stuck", "stuck").job_id
    world.tables.apply(stuck, claim(stuck, world.moment()))
    world.clock.advance(TIMINGS.queued_patience_seconds + 1)
    world.undelivered.send([OutgoingMessage(request_for(lost))])
    rows = dict(world.tables.rows)

    document = Terminal(world).json("reconcile", "--dry-run")

    assert {job["job_id"]: job["treatment"] for job in document["jobs"]} == {
        lost: "republish",
        stuck: "rescue",
    }
    assert (document["backlog"], document["undelivered"], document["relay_failures"]) == (0, 1, 0)
    assert document["expected_wait_ms"] == 0
    assert world.tables.rows == rows
    assert world.undelivered.depth().visible == 1
    counts = world.reconcile().counts
    assert (counts[Healed.REPUBLISHED], counts[Healed.RESCUED]) == (1, 1)


def test_nothing_due_and_an_unexplained_backlog_are_said() -> None:
    world = World()
    world.queued()

    text = Terminal(world).type("reconcile", "--dry-run")

    assert "expected wait   unknown: no job runs from its first message\n" in text
    assert text.endswith("No check is due.\n")


def test_a_row_that_an_old_index_names_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    job_id = world.queued()
    monkeypatch.setattr(world.tables, "due", lambda *_: [job_id])

    assert Terminal(world).json("reconcile", "--dry-run")["jobs"] == []
