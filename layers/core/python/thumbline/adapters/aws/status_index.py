"""Jobs by status: the index by owner read from end to end, since it holds summaries and no whole rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from thumbline.adapters.aws.failures import unavailable_when_failing
from thumbline.adapters.aws.owner_index import DEPENDENCY, summary_of
from thumbline.domain.job import Status
from thumbline.domain.listing import JobSummary
from thumbline.domain.schema import OWNER_INDEX

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDBStatusIndex:
    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def with_status(self, status: Status) -> Iterator[JobSummary]:
        pages = iter(
            self._client.get_paginator("scan").paginate(
                TableName=self._table,
                IndexName=OWNER_INDEX,
                FilterExpression="#status = :status",
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues={":status": {"S": status.value}},
            )
        )
        while True:
            with unavailable_when_failing(DEPENDENCY):
                page = next(pages, None)
            if page is None:
                return
            yield from map(summary_of, page["Items"])
