"""When AWS is slow: clients get our problem within the function's time, and heartbeats give up early."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError
from moto import mock_aws

from functions.ingest_api.handler import lambda_handler
from infra.topology import Topology
from tests.api import SETTINGS
from tests.aws_resources import create_bucket, create_tables
from tests.events import api_request
from thumbline.bootstrap import clients, ingest_api, thumbnail_worker
from thumbline.domain.patience import ATTEMPTING, COPYING, WORKING, Patience
from thumbline.ports.queue import VisibilityChange
from thumbline.service.heartbeat import Heartbeat
from thumbline.service.process_batch import process_batch
from thumbline.settings import WorkerSettings
from tools.chaos.universe import LIMITS, TIMINGS

SECONDS = Topology.ingest_timeout_seconds
ONE_PIXEL = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU"
    b"\0\0\0\nIDATx\x9cc`\0\0\0\x02\0\x01H\xaf\xa4q\0\0\0\0IEND\xaeB`\x82"
)
INGEST = replace(SETTINGS, owner_source="local")


class Request:
    """One request's time, which only the calls spend; also its Lambda context."""

    def __init__(self) -> None:
        self.elapsed_seconds = 0.0

    def get_remaining_time_in_millis(self) -> int:
        return round((SECONDS - self.elapsed_seconds) * 1000)


class SlowAws:
    """Each try takes nearly as long as its client waits; if it `loses`, every second answer is lost."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.loses = True
        self.tries = 0

    def slow(self, make: Callable[[Patience], Any]) -> Callable[[Patience], Any]:
        def made(patience: Patience) -> Any:
            client = make(patience)
            client.meta.events.register("before-send", lambda **_: self._try(patience))
            return client

        return made

    def _try(self, patience: Patience) -> None:
        self.tries += 1
        self._request.elapsed_seconds += patience.try_seconds - 0.001
        if self.loses and self.tries % 2:
            raise ConnectTimeoutError(endpoint_url="https://aws.example")


@pytest.fixture
def request_in_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[Request]:
    request = Request()

    def sleep(seconds: float) -> None:
        request.elapsed_seconds += seconds

    with mock_aws():
        create_tables(boto3.client("dynamodb"))
        create_bucket(boto3.client("s3"))
        monkeypatch.setattr("botocore.endpoint.time.sleep", sleep)
        yield request


def slow_ingest(monkeypatch: pytest.MonkeyPatch, aws: SlowAws) -> ingest_api.Ingest:
    monkeypatch.setattr(clients, "dynamodb", aws.slow(clients.dynamodb))
    monkeypatch.setattr(clients, "s3", aws.slow(clients.s3))
    return ingest_api.build(INGEST)


def post(ingest: ingest_api.Ingest, context: Request) -> dict[str, Any]:
    headers = {"Idempotency-Key": "k", "Content-Type": "image/png"}
    return lambda_handler(api_request("POST", "/images", ONE_PIXEL, headers), context, ingest)


def test_a_request_whose_calls_are_all_slow_is_answered_in_time(
    request_in_time: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A POST makes five calls, more where transactions conflict: 45 s and more if each were waited for."""
    aws = SlowAws(request_in_time)
    answer = post(slow_ingest(monkeypatch, aws), request_in_time)

    assert answer["statusCode"] == 503
    assert json.loads(answer["body"])["code"] == "unavailable"
    assert "Retry-After" in answer["multiValueHeaders"]
    assert request_in_time.elapsed_seconds <= SECONDS - 1
    assert aws.tries >= 4, "it gave up while there was time"


def test_the_next_request_has_a_time_of_its_own(
    request_in_time: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = SlowAws(request_in_time)
    ingest = slow_ingest(monkeypatch, aws)
    assert post(ingest, request_in_time)["statusCode"] == 503

    aws.loses = False
    request_in_time.elapsed_seconds = 0
    assert post(ingest, request_in_time)["statusCode"] == 202
    assert request_in_time.elapsed_seconds <= SECONDS - 1


@pytest.mark.parametrize("patience", [ATTEMPTING, COPYING, WORKING])
def test_a_client_waits_as_long_as_it_was_told(patience: Patience) -> None:
    config: Any = clients.config_of(patience)

    assert config.connect_timeout + config.read_timeout == patience.try_seconds
    assert config.retries == {"mode": "standard", "total_max_attempts": patience.tries}


@pytest.mark.parametrize(
    ("patience", "longest_pause", "call"), [(COPYING, 0, 16), (ATTEMPTING, 1, 9), (WORKING, 2, 24)]
)
def test_a_call_takes_its_tries_and_the_pauses_between_them(
    patience: Patience, longest_pause: float, call: float
) -> None:
    assert (patience.backoff_seconds, patience.call_seconds) == (longest_pause, call)
    assert patience.answered_seconds == patience.try_seconds + longest_pause + 1


def test_a_heartbeat_has_clients_of_its_own_that_give_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[tuple[object, object]] = []

    class Watched(Heartbeat):
        def __init__(self, **given: Any) -> None:
            used.append((given["jobs"], given["queue"]))
            super().__init__(**given)

    worker = thumbnail_worker.build(WorkerSettings("jobs", "bucket", "w", "d", TIMINGS, 4, LIMITS, "dev"))
    monkeypatch.setattr("thumbline.service.process_batch.Heartbeat", Watched)
    process_batch([], worker, lambda: 120)

    ((jobs, queue),) = used
    for adapter in (jobs, queue):
        config = adapter._client.meta.config  # type: ignore[attr-defined]
        assert config.connect_timeout + config.read_timeout == 4
        assert config.retries["total_max_attempts"] == 1
    assert worker.jobs._client.meta.config.read_timeout == ATTEMPTING.read_seconds  # type: ignore[attr-defined]
    assert not worker.beating_queue.change_visibility([VisibilityChange("r", 1)][:0])
