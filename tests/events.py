"""Lambda events as the platform sends them, in the shapes that AWS documents."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from boto3.dynamodb.types import TypeSerializer

from thumbline.adapters.memory.jobs import StreamRecord
from thumbline.domain.row import Row
from thumbline.ports.queue import ReceivedMessage


@dataclass(frozen=True)
class LambdaContext:
    """What a handler and Powertools read of it."""

    remaining_seconds: float = 120.0
    function_name: str = "function"
    memory_limit_in_mb: int = 1769
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:function"
    aws_request_id: str = "request"

    def get_remaining_time_in_millis(self) -> int:
        return round(self.remaining_seconds * 1000)


def api_request(
    method: str,
    target: str,
    body: bytes | None = None,
    headers: Mapping[str, str | list[str]] | None = None,
    user: str = "AIDAALICE",
) -> dict[str, Any]:
    """A REST API proxy event; `target` as the client wrote it, without the stage.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html"""
    url = urlsplit(target)
    query = parse_qs(url.query, keep_blank_values=True)
    several = {name: value if isinstance(value, list) else [value] for name, value in (headers or {}).items()}
    return {
        "resource": "/{proxy+}",
        "path": url.path,
        "httpMethod": method,
        "headers": {name: values[-1] for name, values in several.items()},
        "multiValueHeaders": several,
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "stage": "v1",
            "requestId": "request",
            "identity": {"user": user, "sourceIp": "127.0.0.1"},
        },
        "body": None if body is None else base64.b64encode(body).decode(),
        "isBase64Encoded": body is not None,
    }


def sqs_event(deliveries: Sequence[ReceivedMessage]) -> dict[str, Any]:
    """https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html"""
    return {
        "Records": [
            {
                "messageId": delivery.message_id,
                "receiptHandle": delivery.receipt_handle,
                "body": delivery.body,
                "attributes": {"ApproximateReceiveCount": str(delivery.receive_count)},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for delivery in deliveries
        ]
    }


def stream_event(records: Sequence[StreamRecord]) -> dict[str, Any]:
    """https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html"""
    return {"Records": [_stream_record(record) for record in records]}


def _stream_record(record: StreamRecord) -> dict[str, Any]:
    change: dict[str, Any] = {"SequenceNumber": record.sequence_number, "Keys": {}}
    if record.old is not None:
        change["OldImage"] = _item(record.old)
    if record.new is not None:
        change["NewImage"] = _item(record.new)
    name = "INSERT" if record.old is None else "REMOVE" if record.new is None else "MODIFY"
    return {"eventName": name, "eventSource": "aws:dynamodb", "dynamodb": change}


def _item(row: Row) -> dict[str, Any]:
    serializer = TypeSerializer()
    return {name: serializer.serialize(value) for name, value in row.items()}
