"""The tables, queue and bucket that the stack makes, made by hand for moto."""

from __future__ import annotations

from typing import Any

from thumbline.domain.access import ACCESS_KEY
from thumbline.domain.schema import (
    DUE_INDEX,
    DUE_INDEX_SHARD,
    DUE_INDEX_TIME,
    IDEMPOTENCY_KEY,
    JOBS_KEY,
    OWNER_INDEX,
    OWNER_INDEX_ATTRIBUTES,
    OWNER_INDEX_OWNER,
)


def create_tables(dynamodb: Any, jobs: str = "jobs", idempotency: str = "idempotency") -> str:
    """The ARN of the jobs table's stream."""
    answer = dynamodb.create_table(
        TableName=jobs,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": JOBS_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": JOBS_KEY, "AttributeType": "S"},
            {"AttributeName": DUE_INDEX_SHARD, "AttributeType": "S"},
            {"AttributeName": DUE_INDEX_TIME, "AttributeType": "N"},
            {"AttributeName": OWNER_INDEX_OWNER, "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": DUE_INDEX,
                "KeySchema": [
                    {"AttributeName": DUE_INDEX_SHARD, "KeyType": "HASH"},
                    {"AttributeName": DUE_INDEX_TIME, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
            {
                "IndexName": OWNER_INDEX,
                "KeySchema": [
                    {"AttributeName": OWNER_INDEX_OWNER, "KeyType": "HASH"},
                    {"AttributeName": JOBS_KEY, "KeyType": "RANGE"},
                ],
                "Projection": {
                    "ProjectionType": "INCLUDE",
                    "NonKeyAttributes": list(OWNER_INDEX_ATTRIBUTES),
                },
            },
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    dynamodb.create_table(
        TableName=idempotency,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": IDEMPOTENCY_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": IDEMPOTENCY_KEY, "AttributeType": "S"}],
    )
    return str(answer["TableDescription"]["LatestStreamArn"])


def create_access_table(dynamodb: Any, name: str = "access") -> None:
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": ACCESS_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": ACCESS_KEY, "AttributeType": "S"}],
    )


def create_queue(sqs: Any, name: str, **attributes: str) -> str:
    """The queue's URL."""
    return str(sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])


def create_bucket(s3: Any, name: str = "bucket") -> None:
    s3.create_bucket(Bucket=name)
