"""What a worker does in which order, so that a crash in between can be made up for."""

from __future__ import annotations

import hashlib

import pytest

from tests.world import SMALL, World, outcomes
from thumbline.domain.job import Status
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.service.worker import Outcome


@pytest.fixture
def world() -> World:
    return World()


def test_thumbnails_then_the_row_then_the_ack(world: World) -> None:
    """S12, S132: whatever the row points at is there before it does; the message goes when the row stands."""
    job_id = world.submit(b"pixels", presets=(DEFAULT_PRESET, SMALL)).job_id
    world.relay()
    effects: list[str] = []
    stored_before_the_row: list[str] = []
    status_before_the_ack: list[str] = []

    def watch(event: str) -> None:
        when, effect = event.split(" ")
        if when == "before":
            effects.append(effect)
        if event == "before complete":
            stored_before_the_row.extend(
                hashlib.sha256(stored.data).hexdigest()
                for key, stored in world.objects.objects.items()
                if key.startswith("thumbnails/")
            )
        if event == "before work_queue.delete":
            status_before_the_ack.append(world.tables.rows[job_id]["status"])

    world.faults.watch = watch
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]
    assert effects == [
        "work_queue.receive",
        "claim",
        "work_queue.change_visibility",  # the lease's visibility
        "get_original",
        "put_thumbnail",
        "put_thumbnail",
        "complete",
        "work_queue.delete",
    ]
    results = world.job(job_id).results.values()
    assert sorted(stored_before_the_row) == sorted(result.sha256 for result in results)
    assert status_before_the_ack == [Status.SUCCEEDED]


def test_the_marker_and_the_effect_are_one_write(world: World) -> None:
    """S67, S151: at no moment is a job marked as done without what it did, or the other way round."""
    job_id = world.queued()
    world.work()
    images = [record.new for record in world.tables.stream if record.new is not None]
    assert [image["status"] for image in images] == ["QUEUED", "RUNNING", "SUCCEEDED"]
    assert [set(image.get("results", {})) for image in images] == [set(), set(), {"thumbnail"}]
    assert world.job(job_id).results["thumbnail"].key in world.objects.objects
