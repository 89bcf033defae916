"""Acceptance: the job row and the idempotency record in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from thumbline.adapters.aws.failures import error_code, unavailable_when_failing
from thumbline.adapters.aws.items import from_item, to_item
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Job
from thumbline.domain.schema import IDEMPOTENCY_KEY, JOBS_KEY

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DEPENDENCY = "dynamodb"
_CONFLICT_PAUSES_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Many clients with one key meet in one item; DynamoDB cancels all but one, and nobody retries for us.
Whoever loses looks for the winner's record after each pause, so that losers stop hindering each other."""


class DynamoDBAcceptance:
    def __init__(
        self,
        client: DynamoDBClient,
        *,
        jobs_table: str,
        idempotency_table: str,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._jobs_table = jobs_table
        self._idempotency_table = idempotency_table
        self._pause = pause

    def find_record(self, record_id: str) -> IdempotencyRecord | None:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.get_item(
                TableName=self._idempotency_table,
                Key={IDEMPOTENCY_KEY: {"S": record_id}},
                ConsistentRead=True,
            )
        item = answer.get("Item")
        return None if item is None else _record(item)

    def accept(self, job: Job, record: IdempotencyRecord) -> IdempotencyRecord | None:
        for pause_seconds in _CONFLICT_PAUSES_SECONDS:
            try:
                with unavailable_when_failing(DEPENDENCY):
                    self._write(job, record)
            except ClientError as error:
                reasons = _cancellation_reasons(error)
                if not _is_conflict(reasons):
                    return _holder_of_key(reasons, job)
                self._pause(pause_seconds)
                holder = self.find_record(record.record_id)
                if holder is not None and holder.is_live(job.created_at):
                    return None if holder.job_id == job.job_id else holder
            else:
                return None
        raise DependencyUnavailableError(DEPENDENCY, "TransactionConflict")

    def _write(self, job: Job, record: IdempotencyRecord) -> None:
        self._client.transact_write_items(
            ClientRequestToken=job.write_id,
            TransactItems=[
                {
                    "Put": {
                        "TableName": self._jobs_table,
                        "Item": to_item(job.to_row()),
                        "ConditionExpression": "attribute_not_exists(#key)",
                        "ExpressionAttributeNames": {"#key": JOBS_KEY},
                    }
                },
                {
                    "Put": {
                        "TableName": self._idempotency_table,
                        "Item": to_item(
                            {
                                IDEMPOTENCY_KEY: record.record_id,
                                "fingerprint": record.fingerprint,
                                "job_id": record.job_id,
                                "expires_at": record.expires_at,
                            }
                        ),
                        "ConditionExpression": "attribute_not_exists(#key) OR #expires_at <= :now",
                        "ExpressionAttributeNames": {"#key": IDEMPOTENCY_KEY, "#expires_at": "expires_at"},
                        "ExpressionAttributeValues": {":now": {"N": str(job.created_at // 1000)}},
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                },
            ],
        )


def _cancellation_reasons(error: ClientError) -> list[dict[str, Any]]:
    """One reason an item, in their order. Re-raises what is no cancelled transaction."""
    if error_code(error) != "TransactionCanceledException":
        raise error
    reasons: list[dict[str, Any]] = error.response.get("CancellationReasons", [])  # type: ignore[assignment]
    return reasons


def _is_conflict(reasons: list[dict[str, Any]]) -> bool:
    """Another transaction touched an item, or a table throttled: nothing was decided."""
    return not any(reason.get("Code") == "ConditionalCheckFailed" for reason in reasons)


def _holder_of_key(reasons: list[dict[str, Any]], job: Job) -> IdempotencyRecord | None:
    """The record that holds the key; None where it is this very job's, written by a try that went unheard."""
    item = reasons[1].get("Item")
    if item is None:
        raise DependencyUnavailableError(DEPENDENCY, "the idempotency record vanished during the transaction")
    record = _record(item)
    return None if record.job_id == job.job_id else record


def _record(item: dict[str, Any]) -> IdempotencyRecord:
    row = from_item(item)
    return IdempotencyRecord(
        record_id=row[IDEMPOTENCY_KEY],
        fingerprint=row["fingerprint"],
        job_id=row["job_id"],
        expires_at=row["expires_at"],
    )
