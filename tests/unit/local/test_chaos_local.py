"""The parts of the run with real kills: they must not hide a loss, nor invent one, nor stop a stranger."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from PIL import Image

from tests.unit.local.scripted_api import ScriptedApi, answer, job
from tests.world import World, new_job
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Job, Result, Status
from thumbline.domain.listing import JobSummary
from tools.chaos_local.freezing import frozen, kill_all
from tools.chaos_local.pictures import Picture, pictures
from tools.chaos_local.verdict import (
    Ending,
    Outcome,
    check_balance,
    check_content,
    check_dead_letters,
    end_of,
)
from tools.chaos_local.view import View
from tools.client import Answer
from tools.demo.pictures import SAMPLE
from tools.local.processes import ProcessIdentity, identify, identify_child
from tools.soak.crowd import Crowd
from tools.soak.photos import Photo
from tools.soak.thumbnails import BadThumbnailError

URL = "http://api.test/v1/jobs/img_1"


def jpeg(colour: tuple[int, int, int], size: tuple[int, int] = (320, 214)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "JPEG")
    return buffer.getvalue()


RED, BLUE = jpeg((200, 0, 0)), jpeg((0, 0, 200))
PHOTO = Photo(jpeg((200, 0, 0), (640, 428)), "image/jpeg", (320, 214))


def row(content: bytes) -> Job:
    sha256 = hashlib.sha256(content).hexdigest()
    result = Result("thumbnails/x", sha256, 320, 214, len(content), "image/jpeg")
    return replace(new_job(World()), status=Status.SUCCEEDED, results={"thumbnail": result})


class FakeView:
    """A table of one row and some summaries."""

    def __init__(self, found: Job | None = None, *summaries: JobSummary) -> None:
        self._found = found
        self._summaries = summaries

    def job(self, _job_id: str) -> Job | None:
        return self._found

    def accepted_since(self, moment: int) -> Iterator[JobSummary]:
        return (summary for summary in self._summaries if summary.created_at >= moment)


def ending(picture: Picture, view: FakeView, *answers: Answer | None) -> tuple[Ending, str]:
    with Crowd(ScriptedApi(*answers), clients=1, patience_seconds=0) as crowd:
        return end_of(URL, picture, crowd, cast("View", view))


def served(content: bytes) -> Answer:
    return Answer("http://api.test/t", 200, {}, content)


SUCCEEDED = job("SUCCEEDED", result="/t")
TRUNCATED = job("FAILED", problem={"code": "truncated", "detail": "The file ends early."})


def test_success_is_the_rows_own_bytes_showing_the_photo() -> None:
    right, fault = ending(Picture(PHOTO), FakeView(row(RED)), SUCCEEDED, served(RED))

    assert (right, fault) == (Ending.SUCCEEDED, "")


@pytest.mark.parametrize(
    ("content", "found", "complaint"),
    [
        (RED, row(BLUE), "bytes are not those that the row points at"),
        (RED, None, "bytes are not those that the row points at"),
        (BLUE, row(BLUE), "shows another picture"),
        (jpeg((200, 0, 0), (320, 100)), row(RED), "is 320x100, not 320x214"),
    ],
)
def test_a_wrong_thumbnail_is_a_loss(content: bytes, found: Job | None, complaint: str) -> None:
    lost, fault = ending(Picture(PHOTO), FakeView(found), SUCCEEDED, served(content))

    assert lost is Ending.LOST
    assert complaint in fault


@pytest.mark.parametrize(
    ("picture", "answers", "expected"),
    [
        (Picture(PHOTO, FailureCode.TRUNCATED), [TRUNCATED], Ending.FAILED),
        (Picture(PHOTO, FailureCode.TOO_MANY_PIXELS), [TRUNCATED], Ending.LOST),
        (Picture(PHOTO), [TRUNCATED], Ending.LOST),
        (Picture(PHOTO, FailureCode.TRUNCATED), [SUCCEEDED], Ending.LOST),
        (Picture(PHOTO), [job("RUNNING")], Ending.STUCK),
        (Picture(PHOTO), [answer(404)], Ending.LOST),
    ],
)
def test_each_ending_is_told_apart(picture: Picture, answers: list[Answer], expected: Ending) -> None:
    found, fault = ending(picture, FakeView(), *answers)

    assert found is expected
    assert bool(fault) == (expected in (Ending.LOST, Ending.STUCK))


def test_the_photo_itself_is_recognised_in_its_thumbnail() -> None:
    photo = Photo(SAMPLE.read_bytes(), "image/jpeg", (226, 320))
    with Image.open(SAMPLE) as opened:
        buffer = io.BytesIO()
        opened.convert("RGB").resize((226, 320)).save(buffer, "JPEG", quality=80)

    check_content(buffer.getvalue(), photo, row(buffer.getvalue()))
    with pytest.raises(BadThumbnailError, match="another picture"):
        check_content(RED, photo, row(RED))


def test_the_table_must_balance() -> None:
    known = [JobSummary(job_id=name, status=Status.SUCCEEDED, created_at=10) for name in ("img_a", "img_b")]
    view = cast("View", FakeView(None, *known))

    assert check_balance({"img_a", "img_b"}, 10, view) == []
    assert check_balance({"img_a", "img_b", "img_c"}, 10, view) == [
        "accepted without a row: img_c",
        "3 accepted are not 2 SUCCEEDED",
    ]
    assert check_balance({"img_a"}, 10, view)[0] == "rows that no client was told of: img_b"
    assert check_balance(set(), 11, view) == []


def test_the_last_line_counts_and_any_fault_is_a_failure() -> None:
    outcome = Outcome(accepted=3, kills=2)
    for one in (Ending.SUCCEEDED, Ending.FAILED):
        outcome.count(one, "")
    outcome.count(Ending.STUCK, "still RUNNING")

    assert str(outcome) == "chaos-local: 3 accepted, 1 succeeded, 1 failed, 2 kills, 0 lost, 1 stuck"
    assert not outcome.all_is_well


def well(**changes: Any) -> Outcome:
    values: dict[str, Any] = {"accepted": 1, "kills": 1, "endings": Counter([Ending.SUCCEEDED])}
    return Outcome(**values | changes)


def test_a_run_that_shows_nothing_does_not_pass() -> None:
    assert well().all_is_well
    assert not well(accepted=0, endings=Counter()).all_is_well
    assert not well(accepted=2).all_is_well
    assert not well(kills=0).all_is_well
    assert not well(faults=["anything"]).all_is_well


def test_a_copy_that_came_is_a_fault() -> None:
    assert check_dead_letters(2, 2) == []
    assert check_dead_letters(2, 1) == []
    assert check_dead_letters(0, 1) == ["1 copies in the dead-letter queue of jobs that had attempts left"]


def test_the_same_seed_sends_the_same_pictures_and_some_must_fail() -> None:
    first, again, other = (list(pictures(SAMPLE, 12, seed)) for seed in (1, 1, 2))

    assert first == again
    assert first != other
    assert (first[0].failure, first[1].failure is not None) == (None, True)
    assert 1 <= sum(picture.failure is not None for picture in first) <= 6


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def state_of(process: ProcessIdentity) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for_state(process: ProcessIdentity, states: str) -> None:
    deadline = time.monotonic() + 60
    while state_of(process) not in states and time.monotonic() < deadline:
        time.sleep(0.01)
    assert state_of(process) in states


def test_what_is_frozen_stands_still_and_goes_on(child: subprocess.Popen[bytes]) -> None:
    process = identify_child(child)
    with frozen([process]):
        wait_for_state(process, "T")
    wait_for_state(process, "SR")


def test_what_is_frozen_can_be_killed_and_a_stranger_cannot(child: subprocess.Popen[bytes]) -> None:
    process = identify_child(child)
    stranger = replace(process, started="another time")

    with frozen([process, stranger]):
        assert kill_all([stranger]) == 0
        assert identify(child.pid) == process
        assert kill_all([process]) == 1
    assert child.wait(timeout=60) == -9
