"""One suite over the in-memory twins, and over the real adapters on moto and on the local stack's emulator.

A twin must earn its trust. Where an emulator is known to differ from AWS, the case says how, and the twin has
what AWS documents.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import pytest
from moto import mock_aws

from tests.aws_resources import create_bucket, create_queue, create_tables
from thumbline.adapters.aws.acceptance import DynamoDBAcceptance
from thumbline.adapters.aws.items import to_item
from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.objects import S3Objects
from thumbline.adapters.aws.outbox import DynamoDBOutbox
from thumbline.adapters.aws.queue import SQSQueue
from thumbline.adapters.aws.status_index import DynamoDBStatusIndex
from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.jobs import MemoryTables
from thumbline.adapters.memory.objects import MemoryObjects
from thumbline.adapters.memory.outbox import MemoryOutbox
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.adapters.memory.status_index import MemoryStatusIndex
from thumbline.bootstrap import clients
from thumbline.domain.patience import WORKING
from thumbline.domain.schema import JOBS_KEY
from thumbline.ports.jobs import AcceptanceStore, ReconcilerJobs
from thumbline.ports.objects import (
    OriginalReader,
    OriginalWriter,
    ReconcilerObjects,
    ThumbnailWriter,
    UrlSigner,
)
from thumbline.ports.outbox import OutboxReader
from thumbline.ports.queue import Backlog, MessageReceiver, MessageSender, VisibilityControl
from thumbline.ports.snapshots import SnapshotStore
from thumbline.ports.status_index import StatusIndex
from tools.local.emulator import Emulator
from tools.local.ledger import Ledger
from tools.local.paths import PROJECT_ROOT, Paths

BACKENDS = ("twins", "moto", "emulator")


WORK_MAX_RECEIVES = 8
"""Of the conformance suite's queue, before its redrive policy takes a message away."""


class Queue(MessageSender, VisibilityControl, MessageReceiver, Backlog, Protocol):
    """Every side of a queue."""


class Objects(OriginalWriter, OriginalReader, ThumbnailWriter, ReconcilerObjects, UrlSigner, Protocol):
    """Every side of the bucket."""


class Change(NamedTuple):
    """Where one record lies in the stream, and whose it is."""

    stream_arn: str
    shard_id: str
    sequence_number: str
    job_id: str


@dataclass(frozen=True)
class Backend:
    jobs: ReconcilerJobs
    snapshots: SnapshotStore
    store: AcceptanceStore
    queue: Queue
    undelivered: Queue
    """Where the queue's redrive policy sends what it gave up on."""
    outbox: OutboxReader
    by_status: StatusIndex
    objects: Objects
    name: str
    put_row: Callable[[Mapping[str, Any]], None]
    """Puts a job's row as it is, past every condition."""
    wait: Callable[[int], None]
    """Lets so many seconds of the queue's time pass."""
    changes: Callable[[], list[Change]]
    """What the jobs table's stream holds, in its order."""


def _twins() -> Backend:
    tables = MemoryTables()
    clock = ManualClock()

    def changes() -> list[Change]:
        return [
            Change("arn", "shard", record.sequence_number, (record.new or record.old or {})[JOBS_KEY])
            for record in tables.stream
        ]

    undelivered = MemoryQueue(clock, "undelivered")
    return Backend(
        jobs=tables,
        snapshots=tables,
        store=tables,
        queue=MemoryQueue(clock, max_receive_count=WORK_MAX_RECEIVES, redrive_target=undelivered),
        undelivered=undelivered,
        outbox=MemoryOutbox(tables),
        by_status=MemoryStatusIndex(tables),
        objects=MemoryObjects(),
        name="twins",
        put_row=tables.put_row,
        wait=clock.advance,
        changes=changes,
    )


class Clients(NamedTuple):
    dynamodb: Any
    sqs: Any
    s3: Any
    streams: Any


def _make_clients() -> Clients:
    return Clients(
        clients.dynamodb(WORKING),
        clients.sqs(WORKING),
        clients.s3(WORKING),
        clients.dynamodbstreams(WORKING),
    )


@pytest.fixture(scope="module")
def moto_clients() -> Iterator[Clients]:
    """Made once a module: a boto3 client costs more than a test."""
    with mock_aws():
        yield _make_clients()


@pytest.fixture(scope="session")
def emulator_clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    """The emulator that the local stack runs on, alone."""
    paths = Paths(project=PROJECT_ROOT, state=tmp_path_factory.mktemp("emulator"))
    ledger = Ledger(paths)
    ledger.open()
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(ledger.close)
        emulator = Emulator.start(paths, ledger)
        cleanup.callback(emulator.stop)
        emulator.wait_until_healthy()
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("AWS_ENDPOINT_URL", emulator.url)
            made = _make_clients()
        yield made


def clients_of(backend: str, request: pytest.FixtureRequest) -> Clients:
    made: Clients = request.getfixturevalue(f"{backend}_clients")
    return made


def _adapters(made: Clients, backend: str, name: str) -> Backend:
    dynamodb, sqs, s3, streams = made
    stream_arn = create_tables(dynamodb, f"jobs-{name}", f"idempotency-{name}")
    create_bucket(s3, f"bucket-{name}")
    jobs = DynamoDBJobs(dynamodb, f"jobs-{name}")

    def put_row(row: Mapping[str, Any]) -> None:
        dynamodb.put_item(TableName=f"jobs-{name}", Item=to_item(row))

    def changes() -> list[Change]:
        (shard,) = streams.describe_stream(StreamArn=stream_arn)["StreamDescription"]["Shards"]
        shard_id = shard["ShardId"]
        iterator = streams.get_shard_iterator(
            StreamArn=stream_arn, ShardId=shard_id, ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = [record["dynamodb"] for record in streams.get_records(ShardIterator=iterator)["Records"]]
        return [
            Change(stream_arn, shard_id, record["SequenceNumber"], record["Keys"][JOBS_KEY]["S"])
            for record in records
        ]

    undelivered_url = create_queue(sqs, f"undelivered-{name}")
    policy = {
        "deadLetterTargetArn": sqs.get_queue_attributes(
            QueueUrl=undelivered_url, AttributeNames=["QueueArn"]
        )["Attributes"]["QueueArn"],
        "maxReceiveCount": WORK_MAX_RECEIVES,
    }
    return Backend(
        jobs=jobs,
        snapshots=jobs,
        store=DynamoDBAcceptance(
            dynamodb, jobs_table=f"jobs-{name}", idempotency_table=f"idempotency-{name}"
        ),
        queue=SQSQueue(sqs, create_queue(sqs, f"queue-{name}", RedrivePolicy=json.dumps(policy))),
        undelivered=SQSQueue(sqs, undelivered_url),
        outbox=DynamoDBOutbox(streams),
        by_status=DynamoDBStatusIndex(dynamodb, f"jobs-{name}"),
        objects=S3Objects(s3, f"bucket-{name}"),
        name=backend,
        put_row=put_row,
        wait=time.sleep,
        changes=changes,
    )


_names = itertools.count()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "twins":
        return _twins()
    return _adapters(clients_of(request.param, request), request.param, str(next(_names)))
