"""boto3 clients with time-outs that fit the function they serve; the defaults wait a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

BEHIND_AN_API = Config(
    connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2}
)
"""The three calls of one accepted POST, each tried twice, take 24 s at most: within the function's 25 s."""

COPYING = Config(connect_timeout=1, read_timeout=15, retries={"mode": "standard", "total_max_attempts": 1})
"""S3 answers a copy when it is done, for 100 MB after a second or two. A client repeats the whole request."""

IN_THE_BACKGROUND = Config(
    connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3}
)
"""A heartbeat that hangs must give up well before the lease does."""


def dynamodb(config: Config) -> DynamoDBClient:
    return boto3.client("dynamodb", config=config)


def dynamodbstreams(config: Config) -> Any:
    return boto3.client("dynamodbstreams", config=config)


def s3(config: Config) -> S3Client:
    return boto3.client("s3", config=config.merge(Config(signature_version="s3v4")))


def sqs(config: Config) -> SQSClient:
    return boto3.client("sqs", config=config)
