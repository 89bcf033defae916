"""Following a job, and reading answers."""

from __future__ import annotations

import pytest

from tests.unit.local.scripted_api import JOB, FakeClock, ScriptedApi, answer, job, problem
from tools.client import Answer, Job, JobPendingError, JobRefusedError, follow


def followed(api: ScriptedApi, clock: FakeClock, *, seen: str = "") -> tuple[Job, list[str]]:
    changes: list[str] = []
    ended = follow(
        api,
        JOB,
        patience_seconds=60,
        interval_seconds=1,
        seen=seen,
        on_change=lambda job: changes.append(job.status),
        clock=clock,
        sleep=clock.sleep,
    )
    return ended, changes


def test_each_change_is_told_once() -> None:
    api = ScriptedApi(job("QUEUED"), job("QUEUED"), job("RUNNING"), job("RUNNING"), job("SUCCEEDED"))

    ended, changes = followed(api, FakeClock())

    assert changes == ["QUEUED", "RUNNING", "SUCCEEDED"]
    assert ended.status == "SUCCEEDED"


def test_what_was_seen_already_is_not_told_again() -> None:
    _, changes = followed(ScriptedApi(job("QUEUED"), job("FAILED")), FakeClock(), seen="QUEUED")
    assert changes == ["FAILED"]


def test_no_answer_and_server_errors_are_waited_out() -> None:
    api = ScriptedApi(None, problem(503, "unavailable"), problem(429, "slow_down"), job("SUCCEEDED"))
    clock = FakeClock()

    ended, _ = followed(api, clock)

    assert ended.status == "SUCCEEDED"
    assert clock.sleeps == [1, 1, 1]


def test_a_job_that_is_not_ours_is_an_error_at_once() -> None:
    api = ScriptedApi(problem(404, "job_not_found"))
    with pytest.raises(JobRefusedError, match="404 job_not_found: Do this"):
        followed(api, FakeClock())
    assert len(api.requests) == 1


def test_patience_runs_out() -> None:
    clock = FakeClock()
    with pytest.raises(JobPendingError, match="still RUNNING after 60 s"):
        followed(ScriptedApi(job("RUNNING")), clock)
    assert clock.now == 60


def test_links_resolve_against_the_url_that_answered() -> None:
    document = job("SUCCEEDED", result="/v1/images/img_1/thumbnail")
    assert Job(document, document.json()).result_url == "http://api.test/v1/images/img_1/thumbnail"
    assert answer(202, Location="../jobs/x").location == "http://api.test/v1/jobs/x"


def test_the_row_tells_when_the_job_began() -> None:
    document = job("SUCCEEDED", created_at="2026-01-01T00:00:00.250Z", started_at="2026-01-01T00:00:01.500Z")
    assert Job(document, document.json()).seconds_until_start == 1.25
    assert Job(job("QUEUED"), job("QUEUED").json()).seconds_until_start is None


@pytest.mark.parametrize(("value", "expected"), [("2", 2.0), ("", None), ("soon", None), ("-1", None)])
def test_retry_after_is_seconds_or_nothing(value: str, expected: float | None) -> None:
    assert answer(503, Retry_After=value).retry_after_seconds == expected


def test_only_problem_documents_are_problems() -> None:
    assert Answer(JOB, 502, {"Content-Type": "application/json"}, b'{"message": "x"}').problem is None
    assert str(problem(413, "too_large").problem) == "413 too_large: Do this."
