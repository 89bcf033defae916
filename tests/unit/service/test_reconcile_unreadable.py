"""The reconciler beside rows and records that this version cannot read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.service.reconcile_rows import relay_failure, running_since_now, stored, waiting_messages
from tests.world import World, lost_message, request_for
from thumbline.domain.messages import OutgoingMessage
from thumbline.service.reconcile.reconciler import MAX_ERRORS, Healed


@pytest.fixture
def world() -> World:
    return World()


UNREADABLE: dict[str, Any] = {"presets": "what the next version writes"}


def unreadable_running_row(world: World) -> None:
    job_id = running_since_now(world, 10)
    world.tables.put_row(world.tables.rows[job_id] | UNREADABLE)
    waiting_messages(world)


def unreadable_undelivered(world: World) -> None:
    (job_id,) = stored(world, **UNREADABLE)
    world.undelivered.send([OutgoingMessage(request_for(job_id))])


def unreadable_relay_failure(world: World) -> None:
    stored(world, **UNREADABLE)
    last = len(world.tables.stream)
    relay_failure(world, last, last)


def unreadable_orphan(world: World) -> None:
    (job_id,) = stored(world, **UNREADABLE)
    world.objects.put_original(f"originals/{job_id}", b"x", hashlib.sha256(b"x").hexdigest())
    world.clock.advance(25 * 3_600)


def unreadable_oldest(world: World) -> None:
    (job_id,) = stored(world)
    world.clock.advance(301)
    world.reconcile()
    world.tables.put_row(world.tables.rows[job_id] | UNREADABLE)
    world.work_queue.messages.clear()


@pytest.mark.parametrize(
    "spoil",
    [
        unreadable_running_row,
        unreadable_undelivered,
        unreadable_relay_failure,
        unreadable_orphan,
        unreadable_oldest,
    ],
)
def test_no_row_that_cannot_be_read_stops_a_pass(world: World, spoil: Callable[[World], None]) -> None:
    spoil(world)
    lost = lost_message(world)
    world.clock.advance(301)
    if spoil is unreadable_running_row:
        running_since_now(world, 10)
    world.undelivered.send([OutgoingMessage(request_for(lost))])
    report = world.reconcile()
    assert Healed.FAILED not in report.counts
    assert report.counts[Healed.REPUBLISHED] == 1
    assert report.counts[Healed.REQUEUED] == 1
    snapshot = world.tables.read_snapshot()
    assert snapshot is not None
    assert snapshot.taken_at == world.clock.now()


def test_the_sweep_goes_past_an_original_whose_row_cannot_be_read_and_leaves_it(world: World) -> None:
    unreadable_orphan(world)
    report = world.reconcile()
    (key,) = world.objects.objects
    assert report.orphans_seen_until == key
    assert report.counts[Healed.BROKEN] == 2  # its own check was due as well
    assert all("(job.py:" in error or "(presets.py:" in error for error in report.errors)


def test_the_words_of_a_report_have_an_end_and_its_counts_have_none(world: World) -> None:
    stored(world, MAX_ERRORS + 20, **UNREADABLE)
    world.clock.advance(301)
    report = world.reconcile()
    assert report.counts == {Healed.BROKEN: MAX_ERRORS + 20}
    assert len(report.errors) == MAX_ERRORS
