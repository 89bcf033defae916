"""The index of jobs by owner and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thumbline.adapters.aws.failures import unavailable_when_failing
from thumbline.adapters.aws.items import from_item
from thumbline.domain.job import Status
from thumbline.domain.listing import JobSummary
from thumbline.domain.schema import JOBS_KEY, OWNER_INDEX, OWNER_INDEX_OWNER

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DEPENDENCY = "dynamodb"


class DynamoDBOwnerIndex:
    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def newest(self, owner: str, *, before: str | None, limit: int) -> Sequence[JobSummary]:
        condition, values = "#owner = :owner", {":owner": {"S": owner}}
        names = {"#owner": OWNER_INDEX_OWNER}
        if before is not None:
            condition += " AND #job < :before"
            names["#job"] = JOBS_KEY
            values[":before"] = {"S": before}
        found: list[JobSummary] = []
        with unavailable_when_failing(DEPENDENCY):
            # A page also ends at 1 MB, so one query may give fewer than there are.
            for page in self._client.get_paginator("query").paginate(
                TableName=self._table,
                IndexName=OWNER_INDEX,
                KeyConditionExpression=condition,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
                ScanIndexForward=False,
                PaginationConfig={"MaxItems": limit, "PageSize": limit},
            ):
                found += [summary_of(item) for item in page["Items"]]
        return found


def summary_of(item: dict[str, Any]) -> JobSummary:
    row = from_item(item)
    return JobSummary(
        job_id=row["job_id"],
        status=Status(row["status"]),
        created_at=row["created_at"],
        finished_at=row.get("finished_at"),
        deleted_at=row.get("deleted_at"),
    )
