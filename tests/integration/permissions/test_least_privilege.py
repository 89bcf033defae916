"""Each role allows what its function asks for in the integration tests, and nothing else.

The functions run on moto under a recorder; the roles come from the golden template. A permission that is
missing, that nothing asks for, or that is on another resource fails here by its name.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from functions.ingest_api import handler as ingest_api
from functions.job_reconciler import handler as job_reconciler
from functions.outbox_relay import handler as outbox_relay
from functions.thumbnail_worker import handler as thumbnail_worker
from tests.integration import test_pipeline_on_moto as pipeline
from tests.integration.permissions import test_front_door_on_moto as front_door
from tests.integration.permissions import test_repairs_on_moto as repairs
from tests.integration.permissions.grants import FUNCTIONS, granted, read_template, statements
from tests.integration.permissions.recorder import Permission, Recorder, permissions_of

HANDLERS: dict[str, Any] = {
    "IngestApi": ingest_api,
    "OutboxRelay": outbox_relay,
    "ThumbnailWorker": thumbnail_worker,
    "JobReconciler": job_reconciler,
}
LOGS = {
    Permission("logs:CreateLogStream", "own logs"): "Lambda writes the function's log",
    Permission("logs:PutLogEvents", "own logs"): "Lambda writes the function's log",
    Permission("xray:PutTraceSegments", "*"): "Lambda sends the function's traces",
    Permission("xray:PutTelemetryRecords", "*"): "Lambda sends the function's traces",
}
PLATFORM: dict[str, dict[Permission, str]] = {
    "IngestApi": {
        Permission("s3:PutObject", "bucket/uploads/*"): "a client sends the form that the function signed",
    },
    "OutboxRelay": {
        Permission("dynamodb:DescribeStream", "stream"): "the mapping finds the stream's shards",
        Permission("dynamodb:GetRecords", "stream"): "the mapping reads the stream",
        Permission("dynamodb:GetShardIterator", "stream"): "the mapping reads the stream",
        Permission("dynamodb:ListStreams", "*"): "the mapping looks for its stream",
        Permission("sqs:SendMessage", "relay-failures"): "the mapping's failure destination",
    },
    "ThumbnailWorker": {
        Permission("sqs:ReceiveMessage", "work"): "the mapping polls the queue",
        Permission("sqs:DeleteMessage", "work"): "the mapping deletes what the function acknowledges",
        Permission("sqs:GetQueueAttributes", "work"): "the mapping scales by the queue's depth",
        Permission("s3:ListBucket", "bucket"): "S3 tells a missing original from a forbidden one",
    },
    "JobReconciler": {},
}
"""What nobody asks for in our code: Lambda does, with the function's role."""


def _scenarios() -> list[Callable[[pipeline.Deployment], None]]:
    """Every test of the pipeline, its repairs and the front door."""
    return [
        test
        for module in (pipeline, repairs, front_door)
        for name, test in vars(module).items()
        if name.startswith("test_") and list(inspect.signature(test).parameters) == ["deployment"]
    ]


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    recorder = Recorder()
    deploy = inspect.unwrap(pipeline.deployment._get_wrapped_function())
    for scenario in _scenarios():
        with pytest.MonkeyPatch.context() as patch:
            for name, handler in HANDLERS.items():
                patch.setattr(handler, "lambda_handler", recorder.watched(name, handler.lambda_handler))
            # moto hides the default session, so the recorder takes its place after moto has started.
            with contextmanager(deploy)(patch) as deployment, recorder.listening():
                scenario(deployment)
    return recorder


def _difference(template: dict[str, Any], recorder: Recorder, function: str) -> dict[str, set[Permission]]:
    allowed = granted(template, function)
    needed = recorder.asked.get(function, set()) | set(PLATFORM[function]) | set(LOGS)
    return {
        name: found
        for name, found in {"missing": needed - allowed, "unused": allowed - needed}.items()
        if found
    }


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_allows_what_its_function_does_and_nothing_else(function: str, recorder: Recorder) -> None:
    assert recorder.asked[function], "nothing was recorded"
    assert _difference(read_template(), recorder, function) == {}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_asks_for_nothing_that_is_said_to_be_the_platforms(
    function: str, recorder: Recorder
) -> None:
    """Otherwise the reason given for it is wrong."""
    assert recorder.asked[function] & set(PLATFORM[function]) == set()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_loss_of_any_single_permission_is_noticed(function: str, recorder: Recorder) -> None:
    for permission, reduced in _reduced(read_template(), function):
        assert permission in _difference(reduced, recorder, function).get("missing", set()), permission


def _reduced(template: dict[str, Any], function: str) -> Iterator[tuple[Permission, dict[str, Any]]]:
    """Each template that lacks one action on one resource."""
    for index, statement in enumerate(statements(template, function)):
        for action in _each(statement["Action"]):
            for resource in _each(statement["Resource"]):
                reduced = copy.deepcopy(template)
                parts = statements(reduced, function)
                rest = [
                    {**statement, "Action": [other], "Resource": [another]}
                    for other in _each(statement["Action"])
                    for another in _each(statement["Resource"])
                    if (other, another) != (action, resource)
                ]
                parts[index : index + 1] = rest
                (lost,) = granted(template, function) - granted(reduced, function)
                yield lost, reduced


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_whoever_answers_clients_asks_no_queue(recorder: Recorder) -> None:
    assert not any(permission.action.startswith("sqs:") for permission in recorder.asked["IngestApi"])


def test_a_call_that_nobody_knows_stops_the_test() -> None:
    with pytest.raises(LookupError, match=r"which permission does s3\.GetObjectTorrent need\?"):
        list(permissions_of("s3", "GetObjectTorrent", {}))


def test_a_transaction_needs_the_permissions_of_its_parts() -> None:
    parts = [{"Put": {"TableName": "jobs"}}, {"ConditionCheck": {"TableName": "idempotency"}}]

    assert list(permissions_of("dynamodb", "TransactWriteItems", {"TransactItems": parts})) == [
        Permission("dynamodb:PutItem", "jobs"),
        Permission("dynamodb:ConditionCheckItem", "idempotency"),
    ]
