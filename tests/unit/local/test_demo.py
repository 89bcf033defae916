"""What a person sees of the demo, and what they get as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.local.scripted_api import FakeClock, ScriptedApi, accepted, answer, job, problem
from tools.client import Answer
from tools.demo.pictures import (
    SAMPLE,
    Picture,
    PictureError,
    ThumbnailNames,
    chosen_paths,
    read_picture,
)
from tools.demo.run import Demo, Tally

TIMES = {"created_at": "2026-01-01T00:00:00.000Z", "started_at": "2026-01-01T00:00:00.040Z"}
SUCCEEDED = job("SUCCEEDED", result="/v1/images/img_1/thumbnail", **TIMES)
THUMBNAIL = Answer("http://api.test/t", 200, {"Content-Type": "image/jpeg"}, b"thumbnail")


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "photo.JPG"
    path.write_bytes(b"picture")
    return path


def show(tmp_path: Path, path: Path, *answers: Answer | None) -> tuple[Demo, list[str]]:
    said: list[str] = []
    demo = Demo(ScriptedApi(*answers), tmp_path / "out", said.append, FakeClock())
    demo.show(path)
    return demo, said


def test_a_picture_is_shown_from_acceptance_to_its_file(tmp_path: Path, picture: Path) -> None:
    demo, said = show(tmp_path, picture, accepted(), job("RUNNING", **TIMES), SUCCEEDED, THUMBNAIL)

    assert (tmp_path / "out" / "photo.jpg").read_bytes() == b"thumbnail"
    assert str(demo.tally) == "demo: 1 accepted, 1 succeeded, 0 failed"
    assert demo.tally.all_succeeded
    assert [line.split()[0] for line in said[2:]] == ["QUEUED", "RUNNING", "SUCCEEDED", "saved"]


def test_a_state_that_was_too_short_to_see_is_told_by_the_row(tmp_path: Path, picture: Path) -> None:
    _, said = show(tmp_path, picture, accepted(), SUCCEEDED, THUMBNAIL)

    assert [line.split()[0] for line in said[2:]] == ["QUEUED", "RUNNING", "SUCCEEDED", "saved"]
    assert said[3].split() == ["RUNNING", "0.04", "s"]


def test_a_failed_job_shows_its_problem(tmp_path: Path, picture: Path) -> None:
    failed = job("FAILED", problem={"status": 422, "code": "truncated", "detail": "It ends early."}, **TIMES)

    demo, said = show(tmp_path, picture, accepted(), failed)

    assert said[-1].strip() == "422 truncated: It ends early."
    assert str(demo.tally) == "demo: 1 accepted, 0 succeeded, 1 failed"
    assert not demo.tally.all_succeeded


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([problem(413, "too_large")], "refused with 413 too_large: Do this."),
        ([None], "POST http://api.test/v1/images: connection refused"),
        ([accepted(), problem(404, "job_not_found")], "job_not_found: Do this."),
        ([accepted(), SUCCEEDED, problem(410, "job_gone")], "answered 410 job_gone: Do this."),
        ([accepted(), SUCCEEDED, answer(200, "text")], 'answered 200: "text"'),
    ],
)
def test_everything_else_counts_as_failed_and_is_explained(
    tmp_path: Path, picture: Path, answers: list[Answer | None], expected: str
) -> None:
    demo, said = show(tmp_path, picture, *answers)

    assert said[-1].endswith(expected)
    assert (demo.tally.succeeded, demo.tally.failed) == (0, 1)
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    demo, said = show(tmp_path, tmp_path / "none.jpg", accepted())

    assert said[-1].strip() == f"{tmp_path / 'none.jpg'} cannot be read: No such file or directory."
    assert str(demo.tally) == "demo: 0 accepted, 0 succeeded, 1 failed"


def test_nothing_sent_is_no_success() -> None:
    assert not Tally().all_succeeded


def test_thumbnails_of_equal_names_do_not_overwrite_each_other() -> None:
    names = ThumbnailNames()
    chosen = [names.choose(Path(name), "jpg") for name in ("a/x.png", "b/X.jpg", "x.gif", "y.jpg")]
    assert chosen == ["x.jpg", "X-2.jpg", "x-3.jpg", "y.jpg"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.JPG", "image/jpeg"), ("a.png", "image/png"), ("a.txt", "application/octet-stream"), ("a", None)],
)
def test_only_picture_types_are_declared(name: str, expected: str | None) -> None:
    assert Picture(Path(name), b"").content_type == (expected or "application/octet-stream")


def test_arguments_come_before_the_variable_and_that_before_the_sample() -> None:
    assert chosen_paths(["a b.jpg"], {"IMAGE": "c.jpg"}) == [Path("a b.jpg")]
    assert chosen_paths([], {"IMAGE": "c.jpg 'd e.png'"}) == [Path("c.jpg"), Path("d e.png")]
    assert chosen_paths([], {}) == [SAMPLE]
    assert SAMPLE.stat().st_size < 300_000


def test_a_folder_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="cannot be read: Is a directory"):
        read_picture(tmp_path)
