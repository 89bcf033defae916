"""What the README tells people to type does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.e2e.conftest import Sender
from tests.e2e.pictures import large_png
from tools.client import ImageApi
from tools.demo.pictures import SAMPLE
from tools.local.paths import PROJECT_ROOT

README = (PROJECT_ROOT / "README.md").read_text()
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FAIL_LOUDLY = """
curl() {
  case " $* " in
    *" -fL "*) command curl --silent --show-error --max-time 240 "$@" ;;
    *) command curl --silent --show-error --max-time 240 --fail-with-body "$@" ;;
  esac
}
"""
pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")


def blocks(word: str) -> Iterator[str]:
    yield from (block for block in _BLOCK.findall(README) if word in block)


def run(script: str, folder: Path, url: str) -> str:
    """What the lines print; the base URL is that of the tests' own stack."""
    script = re.sub(r"^URL=\$\(make .*$", "", script, flags=re.MULTILINE)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", _FAIL_LOUDLY + script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "URL": url, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_there_is_no_curl_line_that_is_not_executed_here() -> None:
    outside = _BLOCK.sub("", README)

    assert re.findall(r"^curl .*|`curl [^`]*`", outside, re.MULTILINE) == []
    assert len(list(blocks("curl "))) == 2


def test_the_four_requests(api: ImageApi, tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    shutil.copy(SAMPLE, tmp_path / "samples")
    script, _ = blocks("curl ")

    printed = run(script, tmp_path, api.base_url)

    assert "HTTP/1.1 202 Accepted" in printed
    assert "HTTP/1.1 204 No Content" in printed
    with Image.open(tmp_path / "out" / "thumbnail.jpg") as thumbnail:
        assert thumbnail.size == (226, 320)
    (job_id,) = set(re.findall(r"img_[0-9A-Z]{26}", (tmp_path / "out" / "accepted.txt").read_text()))
    assert api.get(f"{api.base_url}/jobs/{job_id}").status == 410
    assert names_in(tmp_path) == {"samples", "out"}, "nothing is left beside what git ignores"


@pytest.mark.parametrize("megabytes", [20, 90])
def test_a_large_picture_by_the_lines_of_the_readme(
    api: ImageApi, sender: Sender, tmp_path: Path, megabytes: int
) -> None:
    large_png(tmp_path / "large.png", megabytes)
    _, script = blocks("curl ")

    printed = run(script, tmp_path, api.base_url)

    job = sender.follow(f"{api.base_url}/jobs/{re.findall(r'img_[0-9A-Z]{26}', printed)[0]}")
    assert names_in(tmp_path) == {"large.png", "out"}, "nothing is left beside what git ignores"
    assert job.status == "SUCCEEDED", job.document
    assert job.document["byte_length"] == (tmp_path / "large.png").stat().st_size
    with sender.thumbnail(job) as thumbnail:
        assert max(thumbnail.size) == 320


_USE = """
import sys, io, uuid
from client import Client
from client.api.default import get_job, list_jobs, submit_image
from client.types import File
client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)
with open(sys.argv[2], "rb") as photo:
    picture = File(payload=io.BytesIO(photo.read()), mime_type="application/octet-stream")
accepted = submit_image.sync(client=client, body=picture, idempotency_key=str(uuid.uuid4()))
job = get_job.sync(accepted.job_id, client=client)
print(job.job_id, job.status.value)
assert any(listed.job_id == job.job_id for listed in list_jobs.sync(client=client).jobs)
"""


def test_a_client_is_generated_from_the_description_twice_and_works(api: ImageApi, tmp_path: Path) -> None:
    (line,) = blocks("openapi-python-client")
    for name in (".venv-api", "docs"):
        (tmp_path / name).symlink_to(PROJECT_ROOT / name)
    environment = {"PATH": f"{PROJECT_ROOT}/.venv-api/bin:{os.environ['PATH']}", "NO_PROXY": "*"}
    for _ in range(2):
        subprocess.run(line, shell=True, cwd=tmp_path, env=environment, check=True, stdout=subprocess.PIPE)
    assert names_in(tmp_path) == {".venv-api", "docs", "out"}, "nothing is left beside what git ignores"

    done = subprocess.run(
        [PROJECT_ROOT / ".venv-api" / "bin" / "python", "-c", _USE, api.base_url, SAMPLE],
        cwd=tmp_path / "out",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"img_[0-9A-Z]{26} (QUEUED|RUNNING|SUCCEEDED)\n", done.stdout)
