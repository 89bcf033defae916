"""The jobs table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from thumbline.adapters.aws.expressions import Expressions
from thumbline.adapters.aws.failures import error_code, unavailable_when_failing
from thumbline.adapters.aws.items import from_item, to_item
from thumbline.domain.job import Job
from thumbline.domain.schema import DUE_INDEX, DUE_INDEX_SHARD, DUE_INDEX_TIME, JOBS_KEY
from thumbline.domain.snapshot import SNAPSHOT_KEY, Snapshot
from thumbline.domain.transition import Transition, TransitionRefusedError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DEPENDENCY = "dynamodb"


class DynamoDBJobs:
    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def get(self, job_id: str) -> Job | None:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.get_item(
                TableName=self._table, Key={JOBS_KEY: {"S": job_id}}, ConsistentRead=True
            )
        return _job(answer.get("Item"))

    def apply(self, job_id: str, transition: Transition) -> Job:
        expressions = Expressions()
        try:
            with unavailable_when_failing(DEPENDENCY):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key={JOBS_KEY: {"S": job_id}},
                    ConditionExpression=expressions.condition(transition.condition),
                    UpdateExpression=expressions.update(transition.changes),
                    ExpressionAttributeNames=expressions.names,
                    ExpressionAttributeValues=expressions.values,
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:
            return _own_write(transition, refused_image(error))
        return Job.from_row(from_item(answer["Attributes"]))

    def purge(self, job_id: str, transition: Transition) -> bool:
        expressions = Expressions()
        try:
            with unavailable_when_failing(DEPENDENCY):
                self._client.delete_item(
                    TableName=self._table,
                    Key={JOBS_KEY: {"S": job_id}},
                    ConditionExpression=expressions.condition(transition.condition),
                    ExpressionAttributeNames=expressions.names,
                    ExpressionAttributeValues=expressions.values,
                )
        except ClientError as error:
            refused_image(error)
            return False
        return True

    def due(self, shard: str, now: int, limit: int) -> Sequence[str]:
        return self._checks(shard, 0, now, limit)

    def upcoming(self, shard: str, now: int, until: int, limit: int) -> Sequence[str]:
        return self._checks(shard, now + 1, until, limit)

    def read_snapshot(self) -> Snapshot | None:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.get_item(
                TableName=self._table, Key={JOBS_KEY: {"S": SNAPSHOT_KEY}}, ConsistentRead=True
            )
        item = answer.get("Item")
        return None if item is None else Snapshot.from_row(from_item(item))

    def write_snapshot(self, snapshot: Snapshot) -> None:
        with unavailable_when_failing(DEPENDENCY):
            self._client.put_item(
                TableName=self._table, Item=to_item({JOBS_KEY: SNAPSHOT_KEY, **snapshot.to_row()})
            )

    def _checks(self, shard: str, first: int, last: int, limit: int) -> Sequence[str]:
        if first > last:
            return []  # DynamoDB refuses a BETWEEN whose bounds are the wrong way round
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.query(
                TableName=self._table,
                IndexName=DUE_INDEX,
                KeyConditionExpression="#shard = :shard AND #time BETWEEN :first AND :last",
                ExpressionAttributeNames={"#shard": DUE_INDEX_SHARD, "#time": DUE_INDEX_TIME},
                ExpressionAttributeValues={
                    ":shard": {"S": shard},
                    ":first": {"N": str(first)},
                    ":last": {"N": str(last)},
                },
                Limit=limit,
            )
        return [item[JOBS_KEY]["S"] for item in answer["Items"]]


def refused_image(error: ClientError) -> dict[str, Any] | None:
    """The row that refused a condition, None where there is none. Re-raises what is no refusal."""
    if error_code(error) != "ConditionalCheckFailedException":
        raise error
    item: Any = error.response.get("Item")
    return None if item is None else from_item(item)


def _own_write(transition: Transition, row: dict[str, Any] | None) -> Job:
    """A retry below us loses against its own first write; that is a success heard late."""
    job = None if row is None else Job.from_row(row)
    if job is None or job.write_id != transition.write_id:
        raise TransitionRefusedError(transition, job)
    return job


def _job(item: dict[str, Any] | None) -> Job | None:
    return None if item is None else Job.from_row(from_item(item))
