"""What clients do besides sending a small picture: lists, deletes, quotas, conditions, pages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from functions.ingest_api.problem_types import PROBLEM_TYPES
from tests.api import KEY, SETTINGS, Answer, Api
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode

UNKNOWN_JOB = "img_00000000000000000000000000"


@pytest.fixture
def api() -> Api:
    return Api()


def listed(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.body
    return [job["job_id"] for job in answer.document["jobs"]]


def submitted(api: Api, count: int, user: str = "AIDAALICE") -> list[str]:
    """Job ids, newest first."""
    found = []
    for number in range(count):
        api.world.clock.advance(1)
        headers = {"Idempotency-Key": f"key-{user}-{number}"}
        found.append(api.call("POST", "/images", b"pixels", headers, user).document["job_id"])
    return found[::-1]


def test_jobs_are_listed_newest_first_and_page_by_page(api: Api) -> None:
    ids = submitted(api, 5)
    submitted(api, 2, user="AIDABOB")
    first = api.call("GET", "/jobs?limit=2")
    second = api.call("GET", first.document["next"])
    third = api.call("GET", second.document["next"])

    assert first.document["jobs"][0] == {
        "job_id": ids[0],
        "status": "QUEUED",
        "created_at": "2023-11-14T22:13:25.000Z",
        "href": f"/v1/jobs/{ids[0]}",
    }
    assert [listed(first), listed(second), listed(third)] == [ids[:2], ids[2:4], ids[4:]]
    assert "next" not in third.document
    assert first.headers["Cache-Control"] == "no-store"


def test_a_list_that_ends_with_a_full_page_has_no_next(api: Api) -> None:
    ids = submitted(api, 2)
    page = api.call("GET", "/jobs?limit=2")
    assert listed(page) == ids
    assert "next" not in page.document


def test_jobs_are_listed_by_status_and_without_deleted_ones(api: Api) -> None:
    ids = submitted(api, 3)
    api.finish()
    later = submitted(api, 5)[:2]
    api.call("DELETE", f"/images/{ids[1]}")

    assert listed(api.call("GET", "/jobs?status=SUCCEEDED")) == [ids[0], ids[2]]
    page = api.call("GET", "/jobs?status=QUEUED&limit=1")
    assert listed(page) == later[:1]
    assert listed(api.call("GET", page.document["next"])) == later[1:]
    assert "finished_at" in api.call("GET", "/jobs?status=SUCCEEDED").document["jobs"][0]


def test_a_rare_status_ends_a_page_early_but_not_the_list(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thumbline.service.list_jobs.BATCH", 2)
    monkeypatch.setattr("thumbline.service.list_jobs.MAX_BATCHES", 2)
    ids = submitted(api, 1)
    api.finish()
    submitted(api, 6)
    found, target, pages = [], "/jobs?status=SUCCEEDED", 0
    while target:
        page = api.call("GET", target)
        found += listed(page)
        target, pages = page.document.get("next", ""), pages + 1
    assert (found, pages) == (ids, 2)


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        *(("limit=0", "limit"), ("limit=101", "limit"), ("limit=ten", "limit"), ("limit=1&limit=2", "limit")),
        *(("status=DONE", "status"), ("status=", "status")),
    ],
)
def test_a_wrong_parameter_is_named(api: Api, query: str, parameter: str) -> None:
    problem = api.call("GET", f"/jobs?{query}").problem(400, "bad_parameter")
    assert problem["parameter"] == parameter
    assert parameter in problem["detail"]


def test_a_changed_or_borrowed_cursor_is_not_found(api: Api) -> None:
    submitted(api, 3)
    cursor = api.call("GET", "/jobs?limit=1").document["next"].partition("cursor=")[2]
    assert listed(api.call("GET", f"/jobs?cursor={cursor}"))

    other = "A" if cursor[5] != "A" else "B"
    changed = cursor[:5] + other + cursor[6:]
    for wrong in (changed, cursor[:-4], "nonsense", "", "x" * 300, "%C3%A9"):
        api.call("GET", f"/jobs?cursor={wrong}").problem(404, "cursor_not_found")
    api.call("GET", f"/jobs?cursor={cursor}", user="AIDABOB").problem(404, "cursor_not_found")
    api.call("GET", f"/jobs?cursor={cursor}&status=QUEUED").problem(404, "cursor_not_found")


def test_a_deleted_job_is_gone_with_its_objects(api: Api) -> None:
    job_id = api.post().document["job_id"]
    api.finish()
    answer = api.call("DELETE", f"/images/{job_id}")

    assert (answer.status, answer.body) == (204, "")
    assert api.world.objects.objects == {}
    for method, target in (
        *(("GET", f"/jobs/{job_id}"), ("GET", f"/images/{job_id}/thumbnail")),
        ("DELETE", f"/images/{job_id}"),
    ):
        api.call(method, target).problem(410, "job_gone")
    api.post().problem(410, "job_gone")


def test_a_job_may_have_a_deadline_of_its_own(api: Api) -> None:
    answer = api.call("POST", "/images?deadline_seconds=60", b"pixels", KEY)
    job = api.world.job(answer.document["job_id"])
    assert job.deadline_at == job.created_at + 60_000
    assert job.next_check_at == job.deadline_at + 1
    api.call("POST", "/images?deadline_seconds=61", b"pixels", KEY).problem(422, "idempotency_key_reused")
    for wrong in ("0", "86401", "soon", "-1", "1.5"):
        answer = api.call("POST", f"/images?deadline_seconds={wrong}", b"pixels", KEY)
        assert answer.problem(400, "bad_parameter")["parameter"] == "deadline_seconds"


def test_every_metered_answer_tells_what_is_left(api: Api) -> None:
    first, second = api.call("GET", "/jobs"), api.call("GET", f"/jobs/{UNKNOWN_JOB}")
    assert first.headers["RateLimit-Policy"] == '"requests";q=500;w=10'
    assert first.headers["RateLimit"] == '"requests";r=499;t=10'
    assert second.headers["RateLimit"] == '"requests";r=498;t=10'


def test_a_spent_quota_is_a_429_until_the_window_ends_and_for_its_owner_alone() -> None:
    api = Api(replace(SETTINGS, requests_per_second=1))
    api.world.clock.advance(3)
    for _ in range(10):
        assert api.call("GET", "/jobs").status == 200
    refused = api.call("GET", "/jobs")
    refused.problem(429, "too_many_requests")
    assert refused.headers["Retry-After"] == "7"
    assert refused.headers["RateLimit"] == '"requests";r=0;t=7'
    assert api.call("GET", "/jobs", user="AIDABOB").status == 200
    assert api.call("GET", "/openapi.json").status == 200
    api.world.clock.advance(7)
    assert api.call("GET", "/jobs").status == 200


def test_a_counter_that_is_down_refuses_nobody(api: Api) -> None:
    api.world.faults.plan("count", Fault.REFUSED)
    assert api.call("GET", "/jobs").status == 200


def test_too_many_open_jobs_are_a_429_that_ends_when_some_finish(api: Api) -> None:
    submitted(api, 10)
    api.world.clock.advance(5)
    refused = api.call("POST", "/images", b"pixels", {"Idempotency-Key": "eleven"})
    assert "10 of your jobs" in refused.problem(429, "too_many_open_jobs")["detail"]
    assert refused.headers["Retry-After"] == "2"
    assert len(api.world.tables.rows) == 10
    assert api.call("POST", "/images", b"pixels", {"Idempotency-Key": "key-AIDAALICE-3"}).status == 202
    assert api.call("POST", "/images", b"pixels", KEY, user="AIDABOB").status == 202
    api.finish()
    api.world.clock.advance(5)
    assert api.call("POST", "/images", b"pixels", {"Idempotency-Key": "eleven"}).status == 202


def test_between_two_looks_the_process_counts_what_it_admits(api: Api) -> None:
    for number in range(10):
        assert api.call("POST", "/images", b"p", {"Idempotency-Key": f"k{number}"}).status == 202
    api.call("POST", "/images", b"p", {"Idempotency-Key": "k10"}).problem(429, "too_many_open_jobs")


def test_a_job_can_be_polled_conditionally(api: Api) -> None:
    location = api.post().headers["Location"]
    first = api.call("GET", location)
    same = api.call("GET", location, headers={"If-None-Match": first.headers["ETag"]})
    assert (same.status, same.body) == (304, "")
    assert same.headers["ETag"] == first.headers["ETag"]
    assert same.headers["Retry-After"] == "2"
    assert first.headers["Cache-Control"] == "private, no-cache"
    api.finish()
    changed = api.call("GET", location, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.document["status"] == "SUCCEEDED"


def test_head_is_get_without_a_body(api: Api) -> None:
    location = api.post().headers["Location"]
    for target in (location, "/jobs", "/nothing", "/openapi.json"):
        got, head = api.call("GET", target), api.call("HEAD", target)
        assert head.status == got.status
        assert head.body == ""
        assert set(head.headers) == set(got.headers)
    api.call("HEAD", "/nothing")


@pytest.mark.parametrize(
    ("target", "methods"),
    [
        ("/images", "POST, OPTIONS"),
        ("/images/img_42", "DELETE, OPTIONS"),
        ("/images/img_42/thumbnail", "GET, HEAD, OPTIONS"),
        ("/jobs", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_preflight_tells_the_methods_of_its_path(api: Api, target: str, methods: str) -> None:
    answer = api.call("OPTIONS", target)
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Methods"] == answer.headers["Allow"] == methods
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
    api.call("OPTIONS", "/nothing").problem(404, "route_not_found")


def test_what_a_browser_may_read_is_explicit(api: Api) -> None:
    exposed = api.call("GET", "/jobs").headers["Access-Control-Expose-Headers"].split(", ")
    assert {
        *("Location", "Retry-After", "ETag", "RateLimit", "RateLimit-Policy", "Idempotency-Replayed")
    } <= set(exposed)


def test_nothing_served_can_be_sniffed_or_run(api: Api) -> None:
    job_id = api.post().document["job_id"]
    api.finish()
    for target in (f"/images/{job_id}/thumbnail", f"/jobs/{job_id}", "/problems/empty", "/nothing"):
        headers = api.call("GET", target).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_every_problem_type_has_a_page(api: Api, code: str) -> None:
    answer = api.call("GET", f"/v1/problems/{code}")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert code in answer.body
    again = api.call("GET", f"/problems/{code}", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status == 304


def test_an_unknown_problem_type_has_none(api: Api) -> None:
    api.call("GET", "/problems/%3Cscript%3E").problem(404, "route_not_found")


def test_what_clients_can_see_of_failures_has_a_page() -> None:
    internal = {FailureCode.RENDER_CRASHED, FailureCode.RENDER_TIMED_OUT, FailureCode.DEPENDENCY_UNAVAILABLE}
    assert {code.value for code in FailureCode if code not in internal} <= set(PROBLEM_TYPES)


def test_the_owner_of_a_token_comes_from_the_authorizer() -> None:
    from functions.ingest_api.handler import lambda_handler
    from tests.events import LambdaContext, api_request

    api = Api(replace(SETTINGS, owner_source="token"))

    def post(authorizer: Any) -> Answer:
        event = api_request("POST", "/images", b"pixels", KEY | {"X-Owner": "mallory"})
        event["requestContext"]["authorizer"] = authorizer
        return Answer(lambda_handler(event, LambdaContext(), api.ingest))

    job_id = post({"owner": "acme", "principalId": "acme"}).document["job_id"]
    assert api.world.job(job_id).owner == "acme"
    for missing in (None, {}, {"owner": ""}, {"owner": None}):
        post(missing).problem(500, "internal")
    assert len(api.world.tables.rows) == 1


def test_the_served_description_is_json_and_cacheable(api: Api) -> None:
    answer = api.call("GET", "/openapi.json")
    assert json.loads(answer.body)["openapi"] == "3.1.1"
    assert answer.headers["Cache-Control"] == "public, max-age=3600"
    again = api.call("GET", "/openapi.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status == 304
