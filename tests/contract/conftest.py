"""One suite over the in-memory twins and over the real adapters on moto: a twin must earn its trust."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from moto import mock_aws

from tests.aws_resources import create_bucket, create_queue, create_tables
from thumbline.adapters.aws.acceptance import DynamoDBAcceptance
from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.objects import S3Objects
from thumbline.adapters.aws.queue import SQSQueue
from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.jobs import MemoryTables
from thumbline.adapters.memory.objects import MemoryObjects
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.bootstrap import clients
from thumbline.ports.jobs import AcceptanceStore, ReconcilerJobs
from thumbline.ports.objects import (
    OriginalReader,
    OriginalWriter,
    ReconcilerObjects,
    ThumbnailWriter,
    UrlSigner,
)
from thumbline.ports.queue import Backlog, MessageReceiver, MessageSender, VisibilityControl
from thumbline.ports.snapshots import SnapshotStore


class Queue(MessageSender, VisibilityControl, MessageReceiver, Backlog, Protocol):
    """Every side of a queue."""


class Objects(OriginalWriter, OriginalReader, ThumbnailWriter, ReconcilerObjects, UrlSigner, Protocol):
    """Every side of the bucket."""


@dataclass(frozen=True)
class Backend:
    jobs: ReconcilerJobs
    snapshots: SnapshotStore
    store: AcceptanceStore
    queue: Queue
    objects: Objects


def _twins() -> Backend:
    tables = MemoryTables()
    return Backend(tables, tables, tables, MemoryQueue(ManualClock()), MemoryObjects())


@pytest.fixture(scope="module")
def moto_clients() -> Iterator[tuple[Any, Any, Any]]:
    """Made once a module: a boto3 client costs more than a test."""
    with mock_aws():
        config = clients.IN_THE_BACKGROUND
        yield clients.dynamodb(config), clients.sqs(config), clients.s3(config)


def _adapters(moto_clients: tuple[Any, Any, Any], name: str) -> Backend:
    dynamodb, sqs, s3 = moto_clients
    create_tables(dynamodb, f"jobs-{name}", f"idempotency-{name}")
    create_bucket(s3, f"bucket-{name}")
    jobs = DynamoDBJobs(dynamodb, f"jobs-{name}")
    return Backend(
        jobs=jobs,
        snapshots=jobs,
        store=DynamoDBAcceptance(
            dynamodb, jobs_table=f"jobs-{name}", idempotency_table=f"idempotency-{name}"
        ),
        queue=SQSQueue(sqs, create_queue(sqs, f"queue-{name}")),
        objects=S3Objects(s3, f"bucket-{name}"),
    )


_names = itertools.count()


@pytest.fixture(params=["twins", "moto"])
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "twins":
        return _twins()
    return _adapters(request.getfixturevalue("moto_clients"), str(next(_names)))
