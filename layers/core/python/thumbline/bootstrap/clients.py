"""boto3 clients with time-outs that fit the function they serve; the defaults wait a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from thumbline.domain.patience import Patience

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient


def config_of(patience: Patience) -> Config:
    return Config(
        connect_timeout=patience.connect_seconds,
        read_timeout=patience.read_seconds,
        retries={"mode": "standard", "total_max_attempts": patience.tries},
    )


def dynamodb(patience: Patience) -> DynamoDBClient:
    return boto3.client("dynamodb", config=config_of(patience))


def dynamodbstreams(patience: Patience) -> Any:
    return boto3.client("dynamodbstreams", config=config_of(patience))


def s3(patience: Patience) -> S3Client:
    return boto3.client("s3", config=config_of(patience).merge(Config(signature_version="s3v4")))


def sqs(patience: Patience) -> SQSClient:
    return boto3.client("sqs", config=config_of(patience))
