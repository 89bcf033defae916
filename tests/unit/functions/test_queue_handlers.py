"""The functions behind the queues, called as Lambda does: what they report, count and log."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from functions.ingest_api import handler as ingest_api
from functions.job_reconciler import handler as job_reconciler
from functions.outbox_relay import handler as outbox_relay
from functions.thumbnail_worker import handler as thumbnail_worker
from tests.api import Api
from tests.events import LambdaContext, sqs_event, stream_event
from tests.world import World, lost_message
from thumbline import metrics as names
from thumbline.adapters.memory.faults import Fault
from thumbline.bootstrap.outbox_relay import Relay
from thumbline.domain.errors import FailureCode, TransientError

CONTEXT = LambdaContext()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[dict[str, Any]]]:
    """The log lines that all functions have written since the last look."""
    stream = io.StringIO()
    for function in (ingest_api, outbox_relay, thumbnail_worker, job_reconciler):
        monkeypatch.setattr(function.logger.registered_handler, "stream", stream)

    def lines() -> list[dict[str, Any]]:
        written = [json.loads(line) for line in stream.getvalue().splitlines()]
        stream.seek(0)
        stream.truncate()
        return written

    return lines


@pytest.fixture
def counted(capsys: pytest.CaptureFixture[str]) -> Callable[[], dict[str, float]]:
    """What has been counted since the last look, without what was counted as nothing."""

    def counts() -> dict[str, float]:
        found: dict[str, float] = {}
        for line in capsys.readouterr().out.splitlines():
            document = json.loads(line)
            for metric in document["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
                found[metric["Name"]] = found.get(metric["Name"], 0) + sum(document[metric["Name"]])
        return {name: value for name, value in found.items() if value}

    return counts


def relay(world: World) -> dict[str, Any]:
    """One invocation with all that the stream holds."""
    functions = Relay(work_queue=world.work_queue, dead_letters=world.dead_letters, clock=world.clock)
    return outbox_relay.lambda_handler(stream_event(world.tables.stream), CONTEXT, functions)


def work(world: World) -> dict[str, Any]:
    """One invocation, and what its mapping deletes afterwards."""
    deliveries = world.work_queue.receive(10)
    answer = thumbnail_worker.lambda_handler(sqs_event(deliveries), CONTEXT, world.worker)
    kept = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
    for delivery in deliveries:
        if delivery.message_id not in kept:
            world.work_queue.delete(delivery.receipt_handle)
    return answer


def reported(*identifiers: str) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": one} for one in identifiers]}


def crash() -> None:
    raise TransientError(FailureCode.RENDER_CRASHED, "died")


def break_down() -> None:
    raise ZeroDivisionError("a bug of ours")


def test_the_worker_reports_exactly_what_is_to_come_again(
    world: World, log: Callable[[], list[dict[str, Any]]], counted: Callable[[], dict[str, float]]
) -> None:
    """What is missing from the list is deleted by Lambda: a released job would have lost its message."""
    for body in (b"good", b"crashes", b"breaks"):
        world.queued(body, body.decode())
    world.send_to_work_queue("junk")
    world.renderer.behaviours |= {b"crashes": crash, b"breaks": break_down}

    assert work(world) == reported("work_queue-2", "work_queue-3")
    assert set(world.work_queue.messages) == {"work_queue-2", "work_queue-3"}
    (line,) = log()
    assert (line["level"], line["message"]) == ("ERROR", "batch processed")
    assert [(one["message_id"], one["outcome"]) for one in line["deliveries"]] == [
        ("work_queue-1", "succeeded"),
        ("work_queue-2", "released"),
        ("work_queue-3", "broken"),
        ("work_queue-4", "rejected"),
    ]
    assert counted() == {
        names.JOBS_SUCCEEDED: 1,
        names.JOBS_RELEASED: 1,
        names.DELIVERIES_BROKEN: 1,
        names.BAD_MESSAGES: 1,
    }


def test_a_batch_that_is_done_is_reported_as_done(world: World) -> None:
    world.queued()
    assert work(world) == reported()


def test_the_relay_reports_exactly_what_was_not_confirmed(
    world: World, log: Callable[[], list[dict[str, Any]]], counted: Callable[[], dict[str, float]]
) -> None:
    """In the stream's order: Lambda begins again with the lowest, so it must be among them."""
    for number in range(4):
        world.submit(b"%d" % number, f"{number}")
    sequence_numbers = [record.sequence_number for record in world.tables.stream]
    world.work_queue.refused_positions = {1, 3}

    assert relay(world) == reported(sequence_numbers[1], sequence_numbers[3])
    (line,) = log()
    assert (line["level"], line["published"], len(line["errors"])) == ("ERROR", 2, 2)
    assert counted() == {names.MESSAGES_PUBLISHED: 2, names.RELAY_FAILURES: 2}


def test_a_stretch_that_was_published_is_reported_as_done(world: World) -> None:
    world.submit()
    assert relay(world) == reported()


def test_the_reconciler_counts_what_it_did_and_logs_what_it_could_not(
    world: World, log: Callable[[], list[dict[str, Any]]], counted: Callable[[], dict[str, float]]
) -> None:
    lost_message(world)
    world.clock.advance(301)
    world.faults.plan("read_snapshot", Fault.REFUSED)

    counts = {"republished": 1, "failed": 1}
    assert job_reconciler.lambda_handler({}, CONTEXT, world.reconciler) == counts
    (line,) = log()
    assert (line["level"], line["counts"]) == ("ERROR", counts)
    assert line["errors"] == ["dynamodb: read_snapshot was refused"]
    assert counted() == {
        names.JOBS_REPUBLISHED: 1,
        names.RECONCILER_FAILURES: 1,
        names.OLDEST_OPEN_JOB_AGE: 301,
        names.OLDEST_QUEUED_JOB_AGE: 301,
    }


def test_every_phase_of_a_job_leaves_a_count_and_a_line(
    log: Callable[[], list[dict[str, Any]]], counted: Callable[[], dict[str, float]]
) -> None:
    """S8: accepted and persisted, published, received and tried again, exhausted, set aside for a person."""
    api = Api()
    world = api.world
    world.renderer.behaviours[b"pixels"] = crash
    job_id = api.post().document["job_id"]
    (line,) = log()
    assert (line["status"], line["job"]) == (202, f"/v1/jobs/{job_id}")
    assert counted() == {names.JOBS_ACCEPTED: 1}

    relay(world)
    (line,) = log()
    assert (line["message"], line["published"]) == ("relayed", 1)
    assert counted() == {names.MESSAGES_PUBLISHED: 1}

    for _ in range(world.timings.attempt_cap - 1):
        work(world)
        (line,) = log()
        (delivery,) = line["deliveries"]
        assert (delivery["job_id"], delivery["outcome"]) == (job_id, "released")
        assert delivery["note"] == "render_crashed"
        assert counted() == {names.JOBS_RELEASED: 1}
        world.clock.advance(60)

    assert work(world) == reported()
    assert log()[0]["deliveries"][0]["outcome"] == "exhausted"
    assert counted() == {names.JOBS_EXHAUSTED: 1}

    del world.tables.stream[:-1]
    relay(world)
    (line,) = log()
    assert (line["message"], line["copied"]) == ("relayed", 1)
    assert counted() == {names.DEAD_LETTERS_WRITTEN: 1}
