"""The soak run's own parts: they must not hide a loss, nor invent one."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from tests.unit.local.scripted_api import FakeClock, ScriptedApi, accepted, answer, job, problem
from tools.client import Answer
from tools.demo.pictures import SAMPLE
from tools.local.processes import identify_child
from tools.soak.assassin import Assassin, workers_of
from tools.soak.background import Background
from tools.soak.delivery import RefusedError, deliver
from tools.soak.photos import Photo, photos, thumbnail_size
from tools.soak.run import Outcome, Soak
from tools.soak.thumbnails import BadThumbnailError, check_thumbnail


def delivered(api: ScriptedApi, clock: FakeClock) -> Answer:
    return deliver(
        api, b"x", key="k-1", content_type="image/jpeg", patience_seconds=60, clock=clock, sleep=clock.sleep
    )


def test_what_is_unknown_is_repeated_with_the_same_key() -> None:
    api = ScriptedApi(
        None,
        problem(503, "unavailable", Retry_After="7"),
        problem(429, "slow"),
        problem(504, "t"),
        accepted(),
    )
    clock = FakeClock()

    assert delivered(api, clock).status == 202

    assert {headers["Idempotency-Key"] for _, _, headers in api.requests} == {"k-1"}
    assert clock.sleeps == [0.5, 7, 2, 4]


def test_a_refusal_is_final() -> None:
    api = ScriptedApi(problem(413, "too_large"))
    with pytest.raises(RefusedError, match="413 too_large"):
        delivered(api, FakeClock())
    assert len(api.requests) == 1


def test_patience_with_a_broken_api_ends() -> None:
    clock = FakeClock()
    with pytest.raises(RefusedError, match="patience of 60 s ran out"):
        delivered(ScriptedApi(problem(503, "unavailable")), clock)
    assert clock.now >= 60


def thumbnail(size: tuple[int, int]) -> Answer:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, "JPEG")
    return Answer("http://api.test/t", 200, {}, buffer.getvalue())


def test_a_right_thumbnail_passes_and_rounding_is_forgiven() -> None:
    check_thumbnail(ScriptedApi(thumbnail((320, 213))), "u", (320, 214))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (thumbnail((320, 100)), "is 320x100, not 320x214"),
        (Answer("u", 200, {}, thumbnail((320, 214)).body[:300]), "does not decode"),
        (problem(404, "gone"), "answered 404 gone"),
    ],
)
def test_a_wrong_thumbnail_is_found(given: Answer, complaint: str) -> None:
    with pytest.raises(BadThumbnailError, match=complaint):
        check_thumbnail(ScriptedApi(given), "u", (320, 214))


def soak(*answers: Answer | None) -> tuple[Outcome, list[str]]:
    said: list[str] = []
    runner = Soak(ScriptedApi(*answers), said.append, clients=1, patience_seconds=0)
    return runner.run([Photo(b"x", "image/jpeg", (320, 214))]), said


SUCCEEDED = job("SUCCEEDED", result="/t")


def test_success_needs_a_right_thumbnail() -> None:
    right, _ = soak(accepted(), SUCCEEDED, thumbnail((320, 214)))
    wrong, said = soak(accepted(), SUCCEEDED, thumbnail((9, 9)))

    assert str(right) == "soak: 1 accepted, 1 succeeded, 0 failed, 0 kills, 0 lost"
    assert right.all_succeeded
    assert str(wrong) == "soak: 1 accepted, 0 succeeded, 0 failed, 0 kills, 1 lost"
    assert not wrong.all_succeeded
    assert any("lost: the thumbnail is 9x9" in line for line in said)


def test_failed_pending_and_refused_jobs_are_told_apart() -> None:
    failed, _ = soak(accepted(), job("FAILED"))
    pending, _ = soak(accepted(), job("RUNNING"))
    refused, _ = soak(problem(413, "too_large"))

    assert str(failed) == "soak: 1 accepted, 0 succeeded, 1 failed, 0 kills, 0 lost"
    assert str(pending) == "soak: 1 accepted, 0 succeeded, 0 failed, 0 kills, 1 lost"
    assert str(refused) == "soak: 0 accepted, 0 succeeded, 0 failed, 0 kills, 0 lost"
    assert not any(outcome.all_succeeded for outcome in (failed, pending, refused))


def test_the_same_seed_makes_the_same_photos() -> None:
    first, again, other = (list(photos(SAMPLE, 4, seed)) for seed in (1, 1, 2))

    assert first == again
    assert first[0].content == SAMPLE.read_bytes()
    assert first[1:] != other[1:]
    assert len({photo.content for photo in first}) == 4
    for photo in first:
        with Image.open(io.BytesIO(photo.content)) as picture:
            assert picture.get_format_mimetype() == photo.content_type
            assert thumbnail_size(picture.size) == photo.thumbnail_size


@pytest.mark.parametrize(
    ("size", "expected"),
    [((640, 320), (320, 160)), ((100, 50), (100, 50)), ((1, 3000), (1, 320)), ((1000, 999), (320, 320))],
)
def test_thumbnails_fit_the_box_and_are_never_enlarged(
    size: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert thumbnail_size(size) == expected


def worker(run: Path, function_name: str) -> subprocess.Popen[bytes]:
    script = run / "tmp" / f"ministack-lambda-{function_name}-x1" / "_worker.py"
    script.parent.mkdir(parents=True)
    script.write_text("import time; time.sleep(600)")
    process = subprocess.Popen([sys.executable, str(script)])
    identify_child(process)
    return process


def test_only_workers_of_the_named_function_are_killed(tmp_path: Path) -> None:
    victim, bystander = worker(tmp_path, "Thumbnail-1"), worker(tmp_path, "Ingest-1")
    try:
        assert [process.pid for process in workers_of("Thumbnail-1", tmp_path)] == [victim.pid]
        with Assassin("Thumbnail-1", tmp_path, budget=1, seed=1) as assassin:
            deadline = time.monotonic() + 60
            while assassin.kills == 0 and time.monotonic() < deadline:
                time.sleep(0.02)
        assert assassin.kills == 1
        assert victim.wait(timeout=30) == -9
        assert bystander.poll() is None
    finally:
        for process in (victim, bystander):
            process.kill()
            process.wait()


class Broken(Background):
    def _work(self) -> None:
        raise LookupError("the other half of the run")


def test_a_run_whose_other_half_died_does_not_pass() -> None:
    with pytest.raises(LookupError, match="other half"), Broken("broken"):
        pass


def test_the_runs_own_error_is_the_one_that_is_told() -> None:
    with pytest.raises(ValueError, match="its own"), Broken("broken"):
        raise ValueError("its own")


def test_an_answer_that_is_no_problem_is_quoted() -> None:
    with pytest.raises(RefusedError, match="400: null"):
        delivered(ScriptedApi(answer(400)), FakeClock())
