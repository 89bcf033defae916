"""A corpus run against a scripted API: names, verdicts, and the files that it leaves."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tools.client import Answer, ImageApi, NoAnswerError
from tools.corpus.__main__ import main
from tools.corpus.files import FolderError, corpus_files, thumbnail_stems
from tools.corpus.outcomes import Outcome
from tools.corpus.report import ProductLimits, contact_sheet, tally, write_report
from tools.corpus.run import CLIENTS, CorpusRun, printable

_BASE = "http://127.0.0.1:1/v1"
_DONE = {
    "job_id": "img_1",
    "status": "SUCCEEDED",
    "created_at": "2026-01-01T00:00:00.000Z",
    "result": "/v1/images/img_1/thumbnail",
    "original": {"type": "image/png", "width": 64, "height": 48},
    "dominant_colour": "#112233",
    "notes": ["The colour profile could not be used and was ignored."],
}
_PROBLEM = {"Content-Type": "application/problem+json"}


class _Api(ImageApi):
    """Answers each POST by the picture's bytes; jobs end at once."""

    def __init__(self, job: Mapping[str, Any], posted: Callable[[bytes], Answer] | None = None) -> None:
        super().__init__(_BASE)
        self._job = job
        self._posted = posted
        self.declared: list[str] = []
        self.keys: list[str] = []

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        redirects: int = 0,
    ) -> Answer:
        del redirects
        if method == "POST" and not url.endswith("/images"):
            return self._uploading(url, headers or {}, body or b"")
        if method == "POST":
            self.declared.append((headers or {})["Content-Type"])
            self.keys.append((headers or {})["Idempotency-Key"])
            if self._posted is not None:
                return self._posted(body or b"")
            return Answer(url, 202, {"Location": "/v1/jobs/img_1"}, b"{}")
        if url.endswith("/thumbnail"):
            return Answer(url, 200, {"Content-Type": "image/webp"}, b"thumbnail bytes")
        return Answer(url, 200, {}, json.dumps(self._job).encode())

    def _uploading(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        raise AssertionError(f"nothing is uploaded here: {url} {headers} {body[:20]!r}")


class _UploadApi(_Api):
    """Too large for a body; the store answers as told."""

    def __init__(self, stored_status: int) -> None:
        super().__init__(_DONE, self._post)
        self.stored_status = stored_status
        self.stored = b""

    def _post(self, body: bytes) -> Answer:
        if body == b"picture":
            return Answer(_BASE, 413, _PROBLEM, b'{"code": "too_large", "detail": "Use /v1/uploads"}')
        assert json.loads(body) == {"upload_id": "upl_1"}
        return Answer(f"{_BASE}/images", 202, {"Location": "/v1/jobs/img_1"}, b"{}")

    def _uploading(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if url == f"{_BASE}/uploads":
            announced = json.loads(body)
            assert announced["byte_length"] == 7
            assert announced["sha256"] == hashlib.sha256(b"picture").hexdigest()
            begun = {"upload_id": "upl_1", "url": "http://127.0.0.1:1/store", "fields": {"key": "k"}}
            return Answer(url, 201, {}, json.dumps(begun).encode())
        assert headers["Content-Type"].startswith("multipart/form-data")
        self.stored = body
        return Answer(url, self.stored_status, {}, b"<Error/>")


def _folder(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(b"picture")
    return folder


def _run(tmp_path: Path, api: ImageApi, *names: str) -> dict[str, Outcome]:
    (tmp_path / "thumbnails").mkdir()
    files = corpus_files(_folder(tmp_path, *names))
    outcomes = CorpusRun(
        api, tmp_path / "thumbnails", lambda _: None, clock=lambda: 5.0, sleep=lambda _: None
    ).send(files)
    return {path.name: outcome for path, outcome in outcomes.items()}


def test_a_picture_s_thumbnail_is_saved_under_its_stem(tmp_path: Path) -> None:
    api = _Api(_DONE)
    outcomes = _run(tmp_path, api, "name späce +plus&(1).jpg")
    outcome = outcomes["name späce +plus&(1).jpg"]
    assert outcome.to_record() == {
        "outcome": "succeeded",
        "seconds": 0.0,
        "width": 64,
        "height": 48,
        "notes": ["The colour profile could not be used and was ignored."],
    }
    assert (tmp_path / "thumbnails" / "name späce +plus&(1).webp").read_bytes() == b"thumbnail bytes"
    assert api.declared == ["image/jpeg"]


def test_names_that_collide_keep_their_types() -> None:
    files = [Path(name) for name in ("Photo.jpg", "alone.gif", "photo.jpg", "photo.png", "photo")]
    assert list(thumbnail_stems(files).values()) == [
        *("Photo__jpg", "alone", "photo__jpg__2", "photo__png", "photo__"),
    ]


@pytest.mark.parametrize(
    ("status", "code", "verdict"),
    [(415, "unsupported_type", "rejected"), (422, "not_an_image", "rejected"), (429, "slow_down", "failed")],
)
def test_a_refusal_at_post_is_the_picture_s_fault_but_not_ours_to_hide(
    tmp_path: Path, status: int, code: str, verdict: str
) -> None:
    problem = json.dumps({"status": status, "code": code, "detail": "Send another"}).encode()
    api = _Api({}, lambda _: Answer(_BASE, status, _PROBLEM, problem))
    outcome = _run(tmp_path, api, "a.bin")["a.bin"]
    assert (outcome.verdict, outcome.reason) == (verdict, f"{code}: Send another")
    assert set(api.declared) == {"application/octet-stream"}


@pytest.mark.parametrize(("retryable", "verdict"), [(False, "rejected"), (True, "failed")])
def test_a_failed_job_is_judged_by_whether_trying_again_may_help(
    tmp_path: Path, retryable: bool, verdict: str
) -> None:
    problem = {"code": "truncated", "detail": "It ends early", "retryable": retryable}
    outcome = _run(tmp_path, _Api({"job_id": "i", "status": "FAILED", "problem": problem}), "a.jpg")["a.jpg"]
    assert (outcome.verdict, outcome.reason) == (verdict, "truncated: It ends early")


def test_an_api_that_does_not_answer_fails_the_file_not_the_run(tmp_path: Path) -> None:
    def gone(_: bytes) -> Answer:
        raise NoAnswerError("nobody there")

    outcomes = _run(tmp_path, _Api({}, gone), "a.jpg", "b.jpg")
    assert {outcome.verdict for outcome in outcomes.values()} == {"failed"}


def test_an_unknown_outcome_is_asked_for_again_with_the_same_key(tmp_path: Path) -> None:
    accepted = Answer(_BASE, 202, {"Location": "/v1/jobs/img_1"}, b"{}")
    answers = [Answer(_BASE, 503, {}, b""), Answer(_BASE, 504, {}, b""), accepted]
    api = _Api(_DONE, lambda _: answers.pop(0))
    assert _run(tmp_path, api, "a.jpg")["a.jpg"].verdict == "succeeded"
    assert len(set(api.keys)) == 1
    assert len(api.keys) == 3


def test_a_sample_goes_ahead_unreported_and_may_fail(tmp_path: Path) -> None:
    said: list[str] = []
    for api in (_Api(_DONE), _Api({}, lambda _: Answer(_BASE, 503, {}, b""))):
        CorpusRun(api, tmp_path, said.append, sleep=lambda _: None).warm_up(b"sample")
        assert len(set(api.keys)) == CLIENTS
    assert said == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_for_a_body_is_uploaded(tmp_path: Path) -> None:
    api = _UploadApi(204)
    assert _run(tmp_path, api, "a.jpg")["a.jpg"].verdict == "succeeded"
    assert api.stored.index(b'name="key"') < api.stored.index(b'name="file"')
    assert b"picture" in api.stored
    assert len(set(api.keys)) == 1


def test_a_store_that_refuses_the_signed_form_is_our_failure(tmp_path: Path) -> None:
    outcome = _run(tmp_path, _UploadApi(403), "a.jpg")["a.jpg"]
    assert (outcome.verdict, outcome.reason) == ("failed", "the upload was answered with 403: <Error/>")


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="No such file"):
        corpus_files(tmp_path / "absent")
    with pytest.raises(FolderError, match="holds no file"):
        corpus_files(_folder(tmp_path, "manifest.json", ".hidden"))


def test_a_run_without_a_folder_says_how_to_name_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["", "out"]) == 2
    assert "make corpus DIR=" in capsys.readouterr().err


def test_the_report_is_complete_and_safe_to_open(tmp_path: Path) -> None:
    names = ["<b>&.png", os.fsdecode(b"odd-\xff.jpg")]
    outcomes = {
        Path(names[0]): Outcome(
            "succeeded", 1.25, width=9, height=8, dominant_colour="#abc", thumbnail="a b.jpg"
        ),
        Path(names[1]): Outcome("rejected", 0.5, "corrupt: <script>"),
    }
    template = {
        "Resources": {
            "Ingest": {
                "Type": "AWS::Lambda::Function",
                "Properties": {
                    "Environment": {
                        "Variables": {
                            "THUMBLINE_PRESETS": json.dumps(
                                [
                                    {"name": "thumbnail", "width": 300, "height": 200, "fit": "contain"}
                                    | {"format": "auto", "quality": 80}
                                ]
                            )
                        }
                    }
                },
            },
            "Worker": {
                "Type": "AWS::Lambda::Function",
                "Properties": {"Environment": {"Variables": {"THUMBLINE_MAX_PIXELS": "1000"}}},
            },
            "Table": {"Type": "AWS::DynamoDB::Table", "Properties": {}},
        }
    }
    write_report(tmp_path, outcomes, ProductLimits(template))
    assert json.loads((tmp_path / "outcomes.json").read_text())[names[1]]["reason"] == "corrupt: <script>"
    assert (tmp_path / "checker-args").read_text() == (
        "--box 300x200 --fit contain --formats jpeg,png,webp,gif,avif,heic,tiff,bmp "
        "--max-pixels 1000 --background 255,255,255\n"
    )
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;b&gt;&amp;.png" in page
    assert 'src="thumbnails/a%20b.jpg"' in page
    assert tally(outcomes) == "corpus: 2 files, 1 succeeded, 1 rejected, 0 failed, 0 pending"
    assert "9 x 8" in contact_sheet(outcomes)
    assert printable(Path(names[1])) == "odd-?.jpg"
