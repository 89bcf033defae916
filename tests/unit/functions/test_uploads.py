"""Pictures that go by way of an upload: announce, send, commit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api import KEY, Api
from thumbline.adapters.memory.objects import StoredObject
from thumbline.adapters.memory.uploads import FormRefusedError
from thumbline.domain.errors import FailureCode
from thumbline.domain.signatures import recognise
from thumbline.domain.uploads import upload_key
from thumbline.ports.uploads import UploadForm

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.fixture
def api() -> Api:
    return Api()


def test_an_upload_becomes_a_job(api: Api) -> None:
    upload_id = api.upload(PICTURE)
    answer = api.post_json("/images", {"upload_id": upload_id})
    job = api.world.job(answer.document["job_id"])

    assert answer.status == 202
    assert answer.headers["Location"] == f"/v1/jobs/{job.job_id}"
    assert (job.byte_length, job.content_type) == (len(PICTURE), "image/png")
    assert api.world.objects.objects[job.object_key].data == PICTURE
    api.finish()
    assert api.call("GET", f"/jobs/{job.job_id}").document["status"] == "SUCCEEDED"


def test_a_form_is_for_one_key_one_size_and_one_checksum(api: Api) -> None:
    answer = api.begin_upload(PICTURE)
    begun = answer.document
    form = UploadForm(begun["url"], begun["fields"])

    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert begun["fields"]["key"] == upload_key("AIDAALICE", begun["upload_id"])
    assert begun["fields"]["seconds"] == "900"
    assert begun["expires_at"] == "2023-11-14T22:28:20.000Z"
    assert api.nothing_is_stored()
    for other in (PICTURE[:-1], PICTURE[:-1] + b"x"):
        with pytest.raises(FormRefusedError):
            api.uploads.send(form, other)


def test_a_replayed_commit_does_not_need_the_upload_any_more(api: Api) -> None:
    upload_id = api.upload(PICTURE)
    first = api.post_json("/images", {"upload_id": upload_id})
    api.world.objects.objects.pop(upload_key("AIDAALICE", upload_id))
    objects = dict(api.world.objects.objects)
    again = api.post_json("/images", {"upload_id": upload_id})

    assert again.body == first.body
    assert again.headers["Idempotency-Replayed"] == "true"
    assert api.world.objects.objects == objects
    other = api.post_json("/images", {"upload_id": "upl_" + 32 * "0"})
    other.problem(422, "idempotency_key_reused")


@pytest.mark.parametrize("upload_id", ["upl_" + 32 * "0", "../originals/x", ""])
def test_an_upload_that_has_not_arrived_is_not_found(api: Api, upload_id: str) -> None:
    api.post_json("/images", {"upload_id": upload_id}).problem(404, "upload_not_found")
    assert api.nothing_is_stored()


def test_a_foreign_upload_is_not_found(api: Api) -> None:
    upload_id = api.upload(PICTURE)
    answer = api.post_json("/images", {"upload_id": upload_id}, user="AIDABOB")
    answer.problem(404, "upload_not_found")
    assert api.post_json("/images", {"upload_id": upload_id}).status == 202


def test_an_upload_that_is_replaced_between_check_and_copy_is_refused(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id = api.upload(PICTURE)
    key = upload_key("AIDAALICE", upload_id)
    find = api.uploads.find_upload

    def find_then_replace(wanted: str) -> Any:
        found = find(wanted)
        api.world.objects.objects[key] = StoredObject(b"another picture", "image/png")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(type(api.uploads), "find_upload", lambda _, wanted: find_then_replace(wanted))
        answer = api.post_json("/images", {"upload_id": upload_id})
    answer.problem(409, "upload_changed")
    assert answer.headers["Retry-After"] == "2"
    assert not api.world.tables.rows
    # What is there now is not what was announced.
    api.post_json("/images", {"upload_id": upload_id}).problem(422, "upload_mismatch")


def test_an_upload_that_is_no_picture_is_refused_at_once(api: Api) -> None:
    object.__setattr__(api.ingest.acceptance, "screen", recognise)
    upload_id = api.upload(b"just words, whatever they are called")
    api.post_json("/images", {"upload_id": upload_id}).problem(422, FailureCode.NOT_AN_IMAGE)
    assert not api.world.tables.rows


def test_an_announcement_above_the_limit_is_refused(api: Api) -> None:
    announced = {"byte_length": 100_000_001, "sha256": 64 * "0"}
    problem = api.post_json("/uploads", announced).problem(413, "too_large")
    assert problem["limit_bytes"] == 100_000_000


@pytest.mark.parametrize(
    "document",
    [
        *([], "text", None, 5, {}, {"byte_length": 1}, {"sha256": 64 * "0"}),
        *({"byte_length": 0, "sha256": 64 * "0"}, {"byte_length": True, "sha256": 64 * "0"}),
        *({"byte_length": "1", "sha256": 64 * "0"}, {"byte_length": 1.5, "sha256": 64 * "0"}),
        *({"byte_length": 1, "sha256": 64 * "G"}, {"byte_length": 1, "sha256": 64 * "0" + "\n"}),
        {"byte_length": 1, "sha256": 64 * "0", "content_type": "text/html"},
        {"byte_length": 1, "sha256": 64 * "0", "more": 1},
    ],
)
def test_a_malformed_announcement_says_what_is_wanted(api: Api, document: Any) -> None:
    api.post_json("/uploads", document).problem(400, "malformed_body")


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"upload_id": 5}', b"[" * 20_000, b" " * 20_000])
def test_a_malformed_commit_says_what_is_wanted(api: Api, body: bytes) -> None:
    headers = KEY | {"Content-Type": "application/json"}
    api.call("POST", "/images", body, headers).problem(400, "malformed_body")


def test_an_announcement_must_be_json(api: Api) -> None:
    answer = api.call("POST", "/uploads", b"{}", {"Content-Type": "text/plain"})
    assert "application/json" in answer.problem(415, "unsupported_type")["detail"]


def test_a_picture_too_large_for_a_request_is_told_the_other_way(api: Api) -> None:
    problem = api.post(b"x" * 4_500_001).problem(413, "too_large")
    assert problem["uploads"] == "/v1/uploads"
    assert "/v1/uploads" in problem["detail"]
