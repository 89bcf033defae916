"""Where the emulator is known to differ from AWS; a failure here may mean that it does no longer."""

from __future__ import annotations

import io
import time
import zipfile
from typing import Any

from tests.e2e.conftest import PATIENCE_SECONDS

HANDLER = """
import boto3, os
queue = boto3.client("sqs")

def handler(event, context):
    failures = []
    for record in event["Records"]:
        key = record["dynamodb"]["Keys"]["k"]["S"]
        print(key)
        queue.send_message(QueueUrl=os.environ["QUEUE"], MessageBody=key)
        if key == "failing":
            failures.append({"itemIdentifier": record["dynamodb"]["SequenceNumber"]})
    return {"batchItemFailures": failures}
"""


def test_failures_that_a_stream_consumer_reports_are_skipped(aws: Any) -> None:
    """On AWS the failing record is delivered again and again, and nothing behind it until it is done with."""
    queue_url = aws("sqs").create_queue(QueueName="e2e-stream")["QueueUrl"]
    aws("dynamodb").create_table(
        TableName="e2e-stream",
        AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    stream_arn = aws("dynamodb").describe_table(TableName="e2e-stream")["Table"]["LatestStreamArn"]
    aws("lambda").create_function(
        FunctionName="e2e-stream",
        Runtime="python3.13",
        Role="arn:aws:iam::000000000000:role/none",
        Handler="handler.handler",
        Code={"ZipFile": zipped("handler.py", HANDLER)},
        Environment={"Variables": {"QUEUE": queue_url}},
    )
    aws("lambda").create_event_source_mapping(
        FunctionName="e2e-stream",
        EventSourceArn=stream_arn,
        StartingPosition="TRIM_HORIZON",
        BatchSize=1,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )
    for key in ("failing", "next"):
        aws("dynamodb").put_item(TableName="e2e-stream", Item={"k": {"S": key}})

    assert deliveries(aws, queue_url, until="next") == ["failing", "next"]


def deliveries(aws: Any, queue_url: str, *, until: str) -> list[str]:
    seen: list[str] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while until not in seen and time.monotonic() < deadline:
        received = aws("sqs").receive_message(QueueUrl=queue_url, WaitTimeSeconds=1).get("Messages", [])
        for message in received:
            seen.append(message["Body"])
            aws("sqs").delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
    return seen


def zipped(name: str, content: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()
