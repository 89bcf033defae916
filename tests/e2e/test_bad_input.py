"""What clients do wrong, as they see it through the whole stack."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.e2e.conftest import Sender
from tests.e2e.pictures import bomb_png, truncated_jpeg
from tools.client import Answer, ImageApi
from tools.demo.pictures import SAMPLE
from tools.local.stack import Stack

UNKNOWN_JOB = "img_00000000000000000000000000"


def problem_of(answer: Answer) -> tuple[int, str]:
    assert answer.problem is not None, answer.text
    assert answer.json()["type"] == f"/v1/problems/{answer.problem.code}"
    assert answer.problem.status == answer.status
    assert len(answer.problem.detail) > 10
    return answer.status, answer.problem.code


def post(api: ImageApi, picture: bytes, *, key: str | None = "", content_type: str = "image/jpeg") -> Answer:
    """Sends a picture; an empty key stands for a fresh one."""
    return api.post_image(picture, key=f"e2e-{uuid.uuid4()}" if key == "" else key, content_type=content_type)


def test_a_missing_key_is_refused(api: ImageApi) -> None:
    assert problem_of(post(api, b"x", key=None)) == (400, "bad_idempotency_key")


def test_a_malformed_key_is_refused(api: ImageApi) -> None:
    assert problem_of(post(api, b"x", key="k" * 256)) == (400, "bad_idempotency_key")


def test_an_empty_body_is_refused(api: ImageApi) -> None:
    assert problem_of(post(api, b"")) == (422, "empty")


def test_another_type_is_refused(api: ImageApi) -> None:
    assert problem_of(post(api, b"x", content_type="text/plain")) == (415, "unsupported_type")


def test_text_called_a_picture_is_refused_at_once(api: ImageApi) -> None:
    answer = post(api, b"This is no picture, whatever it is called. " * 10)
    assert problem_of(answer) == (422, "not_an_image")


def test_more_than_the_inline_limit_is_our_413(api: ImageApi) -> None:
    answer = post(api, bytes(4_600_000))

    assert problem_of(answer) == (413, "too_large")
    assert answer.json()["limit_bytes"] == 4_500_000


def test_more_than_lambda_takes_is_the_gateways_413(api: ImageApi) -> None:
    answer = post(api, bytes(5_000_000))

    assert problem_of(answer) == (413, "too_large")
    assert "request_id" in answer.json()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (f"/jobs/{UNKNOWN_JOB}", "job_not_found"),
        ("/jobs/nonsense", "job_not_found"),
        (f"/images/{UNKNOWN_JOB}/thumbnail", "job_not_found"),
        ("/nothing", "route_not_found"),
        ("/jobs/a/b/c", "route_not_found"),
    ],
)
def test_what_does_not_exist_is_a_404(api: ImageApi, path: str, code: str) -> None:
    assert problem_of(api.get(f"{api.base_url}{path}")) == (404, code)


@pytest.mark.parametrize(("method", "path"), [("DELETE", f"/jobs/{UNKNOWN_JOB}"), ("PUT", "/images")])
def test_a_method_that_a_route_does_not_have_is_a_405(api: ImageApi, method: str, path: str) -> None:
    answer = api.request(method, f"{api.base_url}{path}")

    assert problem_of(answer) == (405, "method_not_allowed")
    assert "OPTIONS" in answer.headers["Allow"]


def test_an_unknown_preset_is_refused_at_post_and_not_found_at_get(api: ImageApi, sender: Sender) -> None:
    refused = api.post_image(SAMPLE.read_bytes(), key=f"e2e-{uuid.uuid4()}", presets=["poster"])
    job = sender.follow(sender.post(SAMPLE.read_bytes()))
    missing = api.get(f"{api.base_url}/images/{job.job_id}/poster")

    assert problem_of(refused) == (400, "unknown_preset")
    assert problem_of(missing) == (404, "preset_not_found")


def test_a_thumbnail_that_is_not_ready_is_a_409_with_the_jobs_link(
    api: ImageApi, sender: Sender, stack: Stack, aws: Any
) -> None:
    lambda_ = aws("lambda")
    function_name = stack.state.outputs["ThumbnailWorkerFunctionName"]
    (mapping,) = lambda_.list_event_source_mappings(FunctionName=function_name)["EventSourceMappings"]
    lambda_.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    try:
        job_url = sender.post(SAMPLE.read_bytes())
        answer = api.get(job_url.replace("/jobs/", "/images/") + "/thumbnail")
    finally:
        lambda_.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)

    assert problem_of(answer) == (409, "not_ready")
    assert answer.link(answer.json()["job"]) == job_url
    assert answer.retry_after_seconds == 2
    assert sender.follow(job_url).status == "SUCCEEDED"


def test_a_bad_picture_fails_with_its_code_and_harms_nobody_else(sender: Sender) -> None:
    photo = SAMPLE.read_bytes()
    urls = [sender.post(picture) for picture in (photo, truncated_jpeg(), photo, bomb_png(), photo)]

    jobs = [sender.follow(url) for url in urls]

    assert [job.status for job in jobs] == ["SUCCEEDED", "FAILED", "SUCCEEDED", "FAILED", "SUCCEEDED"]
    assert [job.problem.code for job in jobs if job.problem] == ["truncated", "too_many_pixels"]
