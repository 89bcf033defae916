"""The command `thumbline` on the deployed stack, with the emulator's own queues and tables."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import PATIENCE_SECONDS, Sender
from tests.e2e.pictures import truncated_jpeg
from thumbline.domain.keys import job_id as make_job_id
from tools.demo.pictures import SAMPLE
from tools.local.paths import Paths
from tools.local.stack import Stack
from tools.operator.__main__ import main

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def thumbline(stack: Stack, paths: Paths, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs one command on the stack: its status and its output."""
    assert stack.url

    def run(*words: str) -> tuple[int, str]:
        status = main(["--local", *words], state_file=paths.state_file)
        captured = capsys.readouterr()
        return status, captured.out or captured.err

    return run


def document(thumbline: Command, *words: str) -> Any:
    status, output = thumbline(*words, "--json")
    assert status == 0, output
    return json.loads(output)


def test_a_job_is_shown_explained_and_listed(thumbline: Command, sender: Sender) -> None:
    job = sender.follow(sender.post(SAMPLE.read_bytes()))

    shown = document(thumbline, "jobs", "show", job.job_id)["job"]
    assert (shown["status"], shown["owner"]) == ("SUCCEEDED", "local")
    assert shown["created_at"] == job.document["created_at"]
    why = document(thumbline, "jobs", "why", job.job_id)
    assert why["reason"] == "succeeded"
    listed = document(thumbline, "jobs", "list", "--status", "succeeded", "--limit", "1000")["jobs"]
    assert job.job_id in [entry["job_id"] for entry in listed]


def test_an_unknown_job_is_status_1_and_one_sentence(thumbline: Command) -> None:
    status, output = thumbline("jobs", "show", make_job_id(0, 7))

    assert status == 1
    assert "has no job img_0000000000" in output
    assert output.count("\n") == 1


def test_a_permanent_failure_is_redriven_by_id_and_says_who_did_it(
    thumbline: Command, sender: Sender
) -> None:
    url = sender.post(truncated_jpeg())
    job_id = sender.follow(url).job_id

    (chosen,) = document(thumbline, "redrive", job_id, "--dry-run")["jobs"]
    assert (chosen["job_id"], chosen["code"], chosen["generation"]) == (job_id, "truncated", 1)
    outcome = document(thumbline, "redrive", job_id, "--yes")
    assert outcome["jobs"] == [{"job_id": job_id, "outcome": "redriven"}]

    again = finished_again(thumbline, job_id)
    assert (again["status"], again["generation"], again["attempts"]) == ("FAILED", 2, 1)
    (entry,) = again["trace"]
    assert (entry["event"], entry["generation"], entry["by"]) == ("redrive", 2, outcome["operator"])
    assert entry["by"].startswith("local:")


def test_a_foreign_copy_is_listed_shown_and_discarded(thumbline: Command, stack: Stack, aws: Any) -> None:
    job_id = make_job_id(0, 8)
    sqs, url = aws("sqs"), stack.state.outputs["DeadLetterQueueUrl"]
    sqs.send_message(
        QueueUrl=url,
        MessageBody="{}",
        MessageAttributes={
            "job_id": {"DataType": "String", "StringValue": job_id},
            "generation": {"DataType": "Number", "StringValue": "1"},
        },
    )

    for _ in range(2):  # the first look has given the copy back
        copies = document(thumbline, "dlq", "list")["copies"]
        assert [copy["generation"] for copy in copies if copy["job_id"] == job_id] == [1]
    assert document(thumbline, "dlq", "show", job_id)["copies"][0]["receive_count"] == 3
    status, _ = thumbline("dlq", "discard", job_id)
    assert status == 3
    assert [
        copy["job_id"] for copy in document(thumbline, "dlq", "discard", job_id, "--yes")["discarded"]
    ] == [job_id]
    copies = document(thumbline, "dlq", "list")["copies"]
    assert job_id not in [copy["job_id"] for copy in copies]


def test_a_pass_is_previewed(thumbline: Command) -> None:
    preview = document(thumbline, "reconcile", "--dry-run")

    assert preview.keys() == {"backlog", "expected_wait_ms", "undelivered", "relay_failures", "jobs"}


def finished_again(thumbline: Command, job_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        job: dict[str, Any] = document(thumbline, "jobs", "show", job_id)["job"]
        if job["status"] in ("SUCCEEDED", "FAILED"):
            return job
        time.sleep(0.2)
    raise AssertionError(f"{job_id} was still open after {PATIENCE_SECONDS:.0f} s")
