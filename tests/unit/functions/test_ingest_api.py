"""The HTTP contract of ingest_api on the twins: every answer, status and header."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from functions.ingest_api.handler import lambda_handler, logger
from tests.api import KEY, SETTINGS, Answer, Api
from tests.events import LambdaContext, api_request
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.transitions.attempt import claim
from thumbline.domain.transitions.deletion import delete_open


@pytest.fixture
def api() -> Api:
    return Api()


def test_a_picture_is_accepted(api: Api) -> None:
    """S18."""
    answer = api.post()
    (job_id,) = api.world.tables.rows
    assert answer.status == 202
    assert answer.document == {"job_id": job_id, "status": "QUEUED"}
    assert answer.headers["Location"] == f"/v1/jobs/{job_id}"
    assert answer.headers["Retry-After"] == "2"
    assert answer.headers["Content-Type"] == "application/json"
    assert "Idempotency-Replayed" not in answer.headers
    assert api.world.objects.objects[f"originals/{job_id}"].data == b"pixels"


def unmetered(answer: Answer) -> dict[str, str]:
    """The headers without those that count requests."""
    return {name: value for name, value in answer.headers.items() if not name.startswith("RateLimit")}


def test_a_replay_is_the_same_answer_and_says_so(api: Api) -> None:
    first = api.post()
    api.finish()
    again = api.post(Idempotency_Key='"7c1f6e0a"')
    assert again.status == 202
    assert again.body == first.body
    assert unmetered(again) == unmetered(first) | {"Idempotency-Replayed": "true"}


def test_the_status_tells_the_jobs_life(api: Api) -> None:
    """S19, S20, S133."""
    location = api.post().headers["Location"].removeprefix("/v1")
    job_id = location.rpartition("/")[2]
    queued = api.call("GET", location)
    assert queued.status == 200
    assert queued.headers["Retry-After"] == "2"
    assert queued.document == {
        "job_id": job_id,
        "status": "QUEUED",
        "created_at": "2023-11-14T22:13:20.000Z",
        "deadline_at": "2023-11-15T22:13:20.000Z",
        "byte_length": 6,
    }
    api.world.tables.apply(job_id, claim(job_id, api.world.moment()))
    running = api.call("GET", location)
    assert running.document["status"] == "RUNNING"
    assert running.headers["Retry-After"] == "2"
    api.world.clock.advance(60)
    api.finish()
    done = api.call("GET", location)
    assert "Retry-After" not in done.headers
    assert done.document["status"] == "SUCCEEDED"
    assert done.document["result"] == f"/v1/images/{job_id}/thumbnail"
    assert done.document["results"]["thumbnail"]["href"] == done.document["result"]
    assert done.document["results"]["thumbnail"]["width"] == 320
    assert done.document["finished_at"] == "2023-11-14T22:14:20.000Z"


def test_the_thumbnail_is_a_redirect_that_can_be_revalidated(api: Api) -> None:
    """S21."""
    job_id = api.post().document["job_id"]
    api.finish()
    result = api.world.job(job_id).results["thumbnail"]
    answer = api.call("GET", f"/images/{job_id}/thumbnail")
    assert answer.status == 302
    assert result.key in answer.headers["Location"]
    assert "seconds=300" in answer.headers["Location"]
    assert answer.headers["ETag"] == f'"{result.sha256}"'
    assert answer.headers["Cache-Control"] == "private, max-age=150"
    for tags in (f'"{result.sha256}"', f'"x", W/"{result.sha256}"', "*"):
        again = api.call("GET", f"/images/{job_id}/thumbnail", headers={"If-None-Match": tags})
        assert (again.status, again.body) == (304, "")
    other = api.call("GET", f"/images/{job_id}/thumbnail", headers={"If-None-Match": '"x"'})
    assert other.status == 302


def test_a_redirect_can_be_followed_with_the_method_that_asked(api: Api) -> None:
    """A signature holds for one method: whoever follows a HEAD with a HEAD would be refused otherwise."""
    job_id = api.post().document["job_id"]
    api.finish()
    for method in ("GET", "HEAD"):
        answer = api.call(method, f"/images/{job_id}/thumbnail")
        assert answer.status == 302
        assert f"method={method}" in answer.headers["Location"]


def test_more_presets_are_owed_when_asked_for(api: Api) -> None:
    answer = api.call("POST", "/images?presets=small", b"pixels", KEY)
    api.finish()
    job_id = answer.document["job_id"]
    assert set(api.world.job(job_id).results) == {"thumbnail", "small"}
    assert api.call("GET", f"/images/{job_id}/small").status == 302


def test_an_unknown_preset_is_named_at_post(api: Api) -> None:
    answer = api.call("POST", "/images?presets=small,huge", b"pixels", KEY)
    assert "'huge'" in answer.problem(400, "unknown_preset")["detail"]
    assert api.nothing_is_stored()


@pytest.mark.parametrize("key", [None, "", "two words", '"open', "k" * 256])
def test_a_missing_or_malformed_key_is_refused(api: Api, key: str | None) -> None:
    headers = {} if key is None else {"Idempotency-Key": key}
    answer = api.call("POST", "/images", b"pixels", headers)
    assert "Idempotency-Key" in answer.problem(400, "bad_idempotency_key")["detail"]
    assert api.nothing_is_stored()


def test_two_keys_in_one_request_are_malformed(api: Api) -> None:
    answer = api.call("POST", "/images", b"pixels", {"idempotency-key": ["a", "b"]})
    answer.problem(400, "bad_idempotency_key")


def test_a_key_reused_with_another_picture_is_refused(api: Api) -> None:
    api.post()
    before = dict(api.world.tables.rows)
    api.post(b"other").problem(422, "idempotency_key_reused")
    assert api.world.tables.rows == before
    assert len(api.world.objects.objects) == 1


def test_an_empty_body_is_refused(api: Api) -> None:
    for body in (b"", None):
        api.call("POST", "/images", body, KEY).problem(422, "empty")
    assert api.nothing_is_stored()


def test_a_body_above_the_limit_is_refused_before_anything_is_stored(api: Api) -> None:
    answer = api.post(b"x" * 4_500_001)
    problem = answer.problem(413, "too_large")
    assert "4,500,000" in problem["detail"]
    assert problem["limit_bytes"] == 4_500_000
    assert api.nothing_is_stored()
    assert api.post(b"x" * 4_500_000).status == 202


@pytest.mark.parametrize("declared", ["image/jpeg", "IMAGE/PNG; q=1", "application/octet-stream", None])
def test_a_picture_may_be_declared_vaguely(api: Api, declared: str | None) -> None:
    headers = KEY if declared is None else KEY | {"content-type": declared}
    assert api.call("POST", "/images", b"pixels", headers).status == 202


@pytest.mark.parametrize("declared", ["text/plain", "text/json", "multipart/form-data; boundary=x"])
def test_another_type_is_refused(api: Api, declared: str) -> None:
    answer = api.post(Content_Type=declared)
    assert declared.partition(";")[0] in answer.problem(415, "unsupported_type")["detail"]
    assert api.nothing_is_stored()


def test_bodies_arrive_byte_exact(api: Api) -> None:
    body = bytes(range(256)) * 4
    job_id = api.post(body).document["job_id"]
    assert api.world.objects.objects[f"originals/{job_id}"].data == body


@pytest.mark.parametrize("job_id", ["img_00000000000000000000000000", "img_42", "..%2f", "snapshot"])
def test_an_unknown_job_is_not_found(api: Api, job_id: str) -> None:
    api.call("GET", f"/jobs/{job_id}").problem(404, "job_not_found")
    api.call("GET", f"/images/{job_id}/thumbnail").problem(404, "job_not_found")


def test_a_foreign_job_looks_like_a_missing_one(api: Api) -> None:
    """I14."""
    location = api.post().headers["Location"].removeprefix("/v1")
    api.finish()
    image = location.replace("jobs", "images") + "/thumbnail"
    missing = "img_00000000000000000000000000"
    for target in (location, image):
        foreign = api.call("GET", target, user="AIDABOB")
        unknown = api.call("GET", target.replace(location.rpartition("/")[2], missing))
        assert foreign.problem(404, "job_not_found") == unknown.document
        assert unmetered(foreign) == unmetered(unknown)


def test_a_roles_sessions_are_one_owner(api: Api) -> None:
    answer = api.call("POST", "/images", b"pixels", KEY, user="AROAROLE:first-session")
    location = answer.headers["Location"].removeprefix("/v1")
    assert api.call("GET", location, user="AROAROLE:second-session").status == 200
    assert api.world.job(answer.document["job_id"]).owner == "AROAROLE"


def test_without_an_authorizer_nothing_is_answered(api: Api) -> None:
    """A method deployed without its authorizer must not fall back to a shared owner."""
    event = api_request("POST", "/images", b"pixels", KEY)
    del event["requestContext"]["identity"]["user"]
    Answer(lambda_handler(event, LambdaContext(), api.ingest)).problem(500, "internal")
    event["requestContext"]["identity"]["user"] = None
    Answer(lambda_handler(event, LambdaContext(), api.ingest)).problem(500, "internal")
    assert api.nothing_is_stored()


def test_the_local_stage_has_one_owner() -> None:
    api = Api(replace(SETTINGS, owner_source="local"))
    job_id = api.post().document["job_id"]
    assert api.world.job(job_id).owner == "local"


def test_a_preset_that_the_job_does_not_owe_is_not_found(api: Api) -> None:
    job_id = api.post().document["job_id"]
    api.finish()
    api.call("GET", f"/images/{job_id}/small").problem(404, "preset_not_found")
    api.call("GET", f"/images/{job_id}/nonsense").problem(404, "preset_not_found")


def test_a_thumbnail_that_is_not_ready_is_a_conflict_with_the_jobs_link(api: Api) -> None:
    job_id = api.post().document["job_id"]
    answer = api.call("GET", f"/images/{job_id}/thumbnail")
    assert answer.problem(409, "not_ready")["job"] == f"/v1/jobs/{job_id}"
    assert answer.headers["Retry-After"] == "2"


def refuse() -> None:
    raise PermanentError(FailureCode.TOO_MANY_PIXELS, "100,000,001 pixels; at most 100,000,000")


def test_a_failed_job_carries_its_problem_and_offers_no_waiting(api: Api) -> None:
    api.world.renderer.behaviours[b"pixels"] = refuse
    job_id = api.post().document["job_id"]
    api.finish()
    answer = api.call("GET", f"/jobs/{job_id}")
    assert answer.status == 200
    assert "Retry-After" not in answer.headers
    assert "result" not in answer.document
    assert answer.document["problem"] == {
        "type": "/v1/problems/too_many_pixels",
        "title": "Too many pixels",
        "status": 422,
        "code": "too_many_pixels",
        "detail": "100,000,001 pixels; at most 100,000,000",
        "retryable": False,
    }
    image = api.call("GET", f"/images/{job_id}/thumbnail")
    image.problem(409, "not_ready")
    assert "Retry-After" not in image.headers


def test_a_deleted_job_is_gone_everywhere(api: Api) -> None:
    job_id = api.post().document["job_id"]
    api.world.tables.apply(job_id, delete_open(job_id, api.world.moment()))
    api.call("GET", f"/jobs/{job_id}").problem(410, "job_gone")
    api.call("GET", f"/images/{job_id}/thumbnail").problem(410, "job_gone")
    api.post().problem(410, "job_gone")


@pytest.mark.parametrize(
    ("method", "target"), [("GET", "/jobs/{}"), ("GET", "/images/{}/thumbnail"), ("DELETE", "/images/{}")]
)
def test_a_stranger_does_not_learn_that_a_deleted_job_was_there(api: Api, method: str, target: str) -> None:
    """I14: gone is for its owner; to everybody else it is as if it had never been."""
    job_id = api.post().document["job_id"]
    api.world.tables.apply(job_id, delete_open(job_id, api.world.moment()))
    api.call(method, target.format(job_id)).problem(410, "job_gone")
    deleted = api.call(method, target.format(job_id), user="AIDABOB")
    missing = api.call(method, target.format("img_" + "0" * 26), user="AIDABOB")
    assert deleted.problem(404, "job_not_found") == missing.problem(404, "job_not_found")


@pytest.mark.parametrize(
    ("method", "target", "allow"),
    [
        ("GET", "/images", "POST, OPTIONS"),
        ("POST", "/jobs/img_42", "GET, HEAD, OPTIONS"),
        ("PUT", "/images/img_42/thumbnail", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_wrong_method_names_the_right_ones(api: Api, method: str, target: str, allow: str) -> None:
    answer = api.call(method, target)
    answer.problem(405, "method_not_allowed")
    assert answer.headers["Allow"] == allow


@pytest.mark.parametrize("target", ["/", "/nothing", "/jobs/a/b", "/images/a/b/c", "/v1/v1/jobs/x"])
def test_an_unknown_route_is_a_problem(api: Api, target: str) -> None:
    api.call("GET", target).problem(404, "route_not_found")


def test_a_custom_domains_base_path_is_stripped(api: Api) -> None:
    location = api.post().headers["Location"]
    assert location.startswith("/v1/")
    assert api.call("GET", location).status == 200


def test_preflights_are_answered_and_answers_are_readable_across_origins(api: Api) -> None:
    preflight = api.call("OPTIONS", "/images", headers={"Origin": "https://example.org"})
    assert preflight.status == 204
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert "Idempotency-Key" in preflight.headers["Access-Control-Allow-Headers"]
    origin = {"Origin": "https://example.org"}
    answers = [
        api.post(Origin="https://example.org"),
        *(api.call("GET", path, headers=origin) for path in ("/jobs/x", "/no")),
    ]
    for answer in answers:
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Location" in answer.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("step", ["find_record", "put_original", "accept"])
def test_an_unknown_outcome_is_a_503_and_the_same_key_returns_the_one_job(
    api: Api, step: str, fault: Fault
) -> None:
    api.world.faults.plan(step, fault)
    failed = api.post()
    failed.problem(503, "unavailable")
    assert failed.headers["Retry-After"] == "2"
    retried = api.post()
    assert retried.status == 202
    assert list(api.world.tables.rows) == [retried.document["job_id"]]


def test_a_status_that_cannot_be_read_is_a_503(api: Api) -> None:
    job_id = api.post().document["job_id"]
    api.world.faults.plan("get", Fault.REFUSED)
    api.call("GET", f"/jobs/{job_id}").problem(503, "unavailable")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the function's own logger writes, as CloudWatch would get it."""
    stream = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", stream)
    return stream


def test_a_bug_is_a_500_without_a_trace(api: Api, log: io.StringIO) -> None:
    job_id = api.post().document["job_id"]
    del api.world.tables.rows[job_id]["owner"]
    answer = api.call("GET", f"/jobs/{job_id}")
    answer.problem(500, "internal")
    assert "TypeError" not in answer.body
    assert "TypeError" in log.getvalue()


def test_no_log_line_holds_a_key_or_a_body(api: Api, log: io.StringIO) -> None:
    api.post(b"secret pixels", Idempotency_Key="secret-key")
    api.post(b"other secret", Idempotency_Key="secret-key")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["method"], line["status"]) for line in lines] == [("POST", 202), ("POST", 422)]
    assert "secret" not in log.getvalue()
