"""Takes down what each function asks of AWS, as IAM sees it: an action on a resource."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3

DYNAMODB = {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query"}
TRANSACTED = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
"""A transaction needs the permissions of its parts, and none of its own."""
STREAMS = {"GetShardIterator", "GetRecords"}
OBJECTS = {
    "GetObject": "GetObject",
    "HeadObject": "GetObject",
    "PutObject": "PutObject",
    "CopyObject": "PutObject",
    "DeleteObject": "DeleteObject",
}
SQS = {
    "SendMessage": "SendMessage",
    "SendMessageBatch": "SendMessage",
    "ReceiveMessage": "ReceiveMessage",
    "DeleteMessage": "DeleteMessage",
    "ChangeMessageVisibility": "ChangeMessageVisibility",
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
    "GetQueueAttributes": "GetQueueAttributes",
}
"""Batches are authorized as their single operation."""


@dataclass(frozen=True, slots=True, order=True)
class Permission:
    """`resource` in the stack's own words, such as `work` or `bucket/originals/*`."""

    action: str
    resource: str


def permissions_of(service: str, operation: str, parameters: dict[str, Any]) -> Iterator[Permission]:
    """What IAM asks for before it lets this call through. Raises LookupError for an unknown operation."""
    match service:
        case "dynamodb" if operation == "TransactWriteItems":
            for item in parameters["TransactItems"]:
                ((kind, part),) = item.items()
                yield Permission(f"dynamodb:{TRANSACTED[kind]}", part["TableName"])
        case "dynamodb" if operation in DYNAMODB:
            table, index = parameters["TableName"], parameters.get("IndexName")
            yield Permission(f"dynamodb:{operation}", f"{table}/index/{index}" if index else table)
        case "dynamodbstreams" if operation in STREAMS:
            yield Permission(f"dynamodb:{operation}", "stream")
        case "s3" if operation == "ListObjectsV2":
            yield Permission("s3:ListBucket", parameters["Bucket"])
        case "s3" if operation == "CreateBucket":
            return  # botocore builds the address of a signed form with it, and sends nothing
        case "s3" if operation in OBJECTS:
            if operation == "CopyObject":
                # botocore has joined bucket and key by now.
                bucket, source, _ = parameters["CopySource"].split("/", 2)
                yield Permission("s3:GetObject", f"{bucket}/{source}/*")
            prefix = parameters["Key"].partition("/")[0]
            yield Permission(f"s3:{OBJECTS[operation]}", f"{parameters['Bucket']}/{prefix}/*")
        case "sqs" if operation in SQS:
            yield Permission(f"sqs:{SQS[operation]}", parameters["QueueUrl"].rpartition("/")[2])
        case _:
            raise LookupError(f"which permission does {service}.{operation} need?")


@dataclass
class Recorder:
    """Listens to boto3's clients, presigned links included; calls outside a function are the test's own."""

    asked: dict[str, set[Permission]] = field(default_factory=dict)
    _running: str | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """For every client that is made inside the block."""
        boto3.setup_default_session()
        events = boto3._get_default_session().events
        events.register("before-parameter-build", self._note)
        try:
            yield
        finally:
            boto3.DEFAULT_SESSION = None

    def watched(self, name: str, handler: Callable[..., Any]) -> Callable[..., Any]:
        """The handler; what it asks for is asked for by `name`, on whatever thread."""

        def call(*arguments: Any) -> Any:
            self._running = name
            try:
                return handler(*arguments)
            finally:
                self._running = None

        return call

    def _note(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if self._running is not None:
            service = model.service_model.service_name
            self.asked.setdefault(self._running, set()).update(permissions_of(service, model.name, params))
