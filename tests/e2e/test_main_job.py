"""The main job on the deployed stack: a picture in, the right thumbnail out (S18-S21)."""

from __future__ import annotations

import re
import shutil
import subprocess
import uuid
from pathlib import Path
from urllib.parse import urljoin

import pytest
from PIL import Image

from tests.e2e.conftest import Sender
from tests.e2e.pictures import BLUE, GREEN, RED, WHITE, sideways_jpeg, transparent_png
from tools.client import ImageApi
from tools.demo.pictures import SAMPLE


def test_a_photo_becomes_a_thumbnail_of_the_same_picture(sender: Sender) -> None:
    job = sender.follow(sender.post(SAMPLE.read_bytes()))

    assert job.status == "SUCCEEDED"
    with sender.thumbnail(job) as thumbnail, Image.open(SAMPLE) as photo:
        assert thumbnail.format == "JPEG"
        assert thumbnail.size == (226, 320)
        assert mean_difference(thumbnail, photo.convert("RGB")) < 6


def test_a_photo_taken_sideways_is_shown_upright(sender: Sender) -> None:
    job = sender.follow(sender.post(sideways_jpeg()))

    with sender.thumbnail(job) as thumbnail:
        assert thumbnail.size == (213, 320)
        quarters = [thumbnail.getpixel(point) for point in ((50, 80), (160, 80), (50, 240), (160, 240))]
        for seen, expected in zip(quarters, (RED, GREEN, BLUE, WHITE), strict=True):
            assert isinstance(seen, tuple)
            assert max(abs(a - b) for a, b in zip(seen, expected, strict=True)) < 25
        assert thumbnail.getexif() == {}


def test_transparency_survives(sender: Sender) -> None:
    job = sender.follow(sender.post(transparent_png(), content_type="image/png"))

    with sender.thumbnail(job) as thumbnail:
        assert (thumbnail.format, thumbnail.size) == ("WEBP", (320, 160))
        assert thumbnail.getchannel("A").getextrema() == (0, 0)


def test_the_declared_type_does_not_matter_and_may_be_missing(sender: Sender, api: ImageApi) -> None:
    wrong = sender.post(SAMPLE.read_bytes(), content_type="image/webp")
    missing = api.request(
        "POST",
        f"{api.base_url}/images",
        headers={"Idempotency-Key": f"e2e-{uuid.uuid4()}"},
        body=SAMPLE.read_bytes(),
    )

    assert missing.status == 202
    assert [sender.follow(url).status for url in (wrong, missing.location)] == ["SUCCEEDED", "SUCCEEDED"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_exchange_works_line_by_line_with_curl(api: ImageApi, sender: Sender, tmp_path: Path) -> None:
    url = f"{api.base_url}/images"
    posted = curl("-i", "--data-binary", f"@{SAMPLE}", *header("Content-Type: image/jpeg"), *key(), url)

    status, headers, body = parts(posted)
    assert status == "202"
    assert headers["retry-after"] == "2"
    matched = re.fullmatch(r'\{"job_id": "(img_[0-9A-Z]{26})", "status": "QUEUED"\}', body)
    assert matched is not None
    assert headers["location"] == f"/v1/jobs/{matched[1]}"

    job_url = urljoin(url, headers["location"])
    assert sender.follow(job_url).status == "SUCCEEDED"
    status, headers, body = parts(curl("-i", job_url))
    assert (status, headers["content-type"]) == ("200", "application/json")
    assert "retry-after" not in headers
    result = re.search(r'"result": "([^"]+)"', body)
    assert result is not None
    assert result[1] == f"/v1/images/{matched[1]}/thumbnail"

    target = tmp_path / "thumbnail.jpg"
    curl("-L", "--fail", "-o", str(target), urljoin(job_url, result[1]))
    with Image.open(target) as thumbnail:
        assert thumbnail.size == (226, 320)


def curl(*arguments: str) -> str:
    command = ["curl", "--silent", "--show-error", "--max-time", "60", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def header(line: str) -> tuple[str, str]:
    return ("-H", line)


def key() -> tuple[str, str]:
    return header(f"Idempotency-Key: e2e-{uuid.uuid4()}")


def parts(answer: str) -> tuple[str, dict[str, str], str]:
    head, _, body = answer.replace("\r\n", "\n").rpartition("\n\n")
    status_line, *lines = head.rpartition("\n\n")[2].split("\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return status_line.split()[1], headers, body


def mean_difference(thumbnail: Image.Image, photo: Image.Image) -> float:
    """Mean difference of the pixels, 0 to 255, at the thumbnail's size."""
    size = thumbnail.size
    ours, theirs = thumbnail.convert("RGB").tobytes(), photo.resize(size, Image.Resampling.LANCZOS).tobytes()
    return sum(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / len(ours)
