"""What a job says about its picture, and what acceptance already refuses by the first bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from functions.ingest_api.views import job_document
from tests.world import World
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.job import Result
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.domain.signatures import recognise
from thumbline.service.accept_image import Submission, accept_image

_PNG = b"\x89PNG\r\n\x1a\n rest"


def _submit(world: World, body: bytes) -> None:
    submission = Submission(
        owner="alice", idempotency_key="key", content_type="image/png", body=body, presets=(DEFAULT_PRESET,)
    )
    accept_image(submission, replace(world.acceptance, screen=recognise))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", FailureCode.EMPTY),
        (b"<svg/>", FailureCode.UNSUPPORTED_TYPE),
        (b"hello", FailureCode.NOT_AN_IMAGE),
    ],
)
def test_what_is_no_picture_is_refused_before_anything_is_stored(body: bytes, code: FailureCode) -> None:
    world = World()
    with pytest.raises(PermanentError) as refusal:
        _submit(world, body)
    assert refusal.value.code == code
    assert not world.tables.rows
    assert not world.objects.objects


def test_a_picture_of_any_accepted_type_passes_whatever_its_declared_type() -> None:
    world = World()
    _submit(world, _PNG)
    _submit(world, _PNG)
    assert len(world.tables.rows) == 1


def _finished(world: World, content_type: str) -> str:
    job_id = world.submit(content_type=content_type).job_id
    world.relay()
    world.work()
    return job_id


def test_a_declared_type_that_differs_from_the_content_is_told() -> None:
    world = World()
    # The twin's renderer takes every picture for a JPEG.
    job = world.job(_finished(world, "image/png"))
    note = "The picture was sent as image/png but is JPEG, and was treated as JPEG."
    assert job.results["thumbnail"].notes == (note,)
    assert job_document(job)["notes"] == [note]


def test_a_finished_job_describes_its_original() -> None:
    world = World()
    document = job_document(world.job(_finished(world, "image/jpeg")))
    assert document["original"] == {"type": "image/jpeg", "width": 640, "height": 480}
    assert document["dominant_colour"] == "#336699"
    assert document["placeholder"] == "1QcSHQRnh493"
    assert document["notes"] == []


def test_a_row_that_an_earlier_version_wrote_still_reads() -> None:
    world = World()
    job = world.job(_finished(world, "image/jpeg"))
    old = {"key": "k", "sha256": "ab", "width": 1, "height": 2, "bytes": 3, "type": "image/jpeg"}
    row = job.to_row() | {"results": {"thumbnail": old}}
    document = job_document(type(job).from_row(row))
    assert document["results"]["thumbnail"]["width"] == 1
    assert "original" not in document


def test_a_result_that_a_later_version_wrote_still_reads() -> None:
    record = Result("k", "ab", 1, 2, 3, "image/jpeg", notes=("seen",)).to_record()
    assert Result.from_record(record | {"invented_later": 1}).notes == ("seen",)
