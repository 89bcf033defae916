"""One local stack for all end-to-end tests, on ports and in a folder of its own."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from PIL import Image

from tools.client import ImageApi, Job, follow
from tools.local.environment import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY
from tools.local.paths import PROJECT_ROOT, Paths
from tools.local.stack import Stack, started_stack
from tools.soak.delivery import deliver

PATIENCE_SECONDS = 240.0
"""Beyond a whole visibility timeout of the local stage, on a machine with much else to do."""
CLIENTS = 20


@pytest.fixture(scope="session")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    return Paths(project=PROJECT_ROOT, state=tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="session")
def stack(paths: Paths) -> Iterator[Stack]:
    with started_stack(paths, any_port=True) as stack:
        yield stack


@pytest.fixture(scope="session")
def api(stack: Stack) -> Iterator[ImageApi]:
    with ImageApi(stack.url, connections=CLIENTS) as api:
        yield api


class Sender:
    """Sends pictures as a patient client does, and follows their jobs."""

    def __init__(self, api: ImageApi) -> None:
        self.api = api

    def post(self, picture: bytes, *, key: str | None = None, content_type: str = "image/jpeg") -> str:
        """The job's URL."""
        return deliver(
            self.api,
            picture,
            key=key or f"e2e-{uuid.uuid4()}",
            content_type=content_type,
            patience_seconds=PATIENCE_SECONDS,
        ).location

    def follow(self, url: str) -> Job:
        return follow(self.api, url, patience_seconds=PATIENCE_SECONDS, interval_seconds=0.2)

    def thumbnail(self, job: Job) -> Image.Image:
        answer = self.api.fetch(job.result_url)
        assert answer.status == 200, answer.text
        with Image.open(io.BytesIO(answer.body)) as picture:
            picture.load()
            return picture


@pytest.fixture(scope="session")
def sender(api: ImageApi) -> Sender:
    return Sender(api)


@pytest.fixture(scope="session")
def aws(stack: Stack) -> Any:
    """A boto3 session's client maker, aimed at the emulator."""
    session = boto3.Session(ACCESS_KEY_ID, SECRET_ACCESS_KEY, region_name=REGION)
    return lambda service: session.client(service, endpoint_url=stack.state.emulator_url)
