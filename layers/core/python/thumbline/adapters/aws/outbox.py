"""The jobs table's stream, read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thumbline.adapters.aws.failures import unavailable_when_failing
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.relay_failures import LostBatch
from thumbline.domain.schema import JOBS_KEY

DEPENDENCY = "dynamodbstreams"
_MAX_PAGES = 20
"""A page may be empty and the stretch still go on. One whose end does not come is not called read."""
_FORGOTTEN = frozenset({"TrimmedDataAccessException", "ResourceNotFoundException"})


class DynamoDBOutbox:
    def __init__(self, client: Any) -> None:
        self._client = client

    def job_ids(self, lost: LostBatch) -> Sequence[str] | None:
        try:
            with unavailable_when_failing(DEPENDENCY):
                return self._read(lost)
        except DependencyUnavailableError as error:
            if error.detail in _FORGOTTEN:
                return None
            raise

    def _read(self, lost: LostBatch) -> Sequence[str] | None:
        iterator: str | None = self._client.get_shard_iterator(
            StreamArn=lost.stream_arn,
            ShardId=lost.shard_id,
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=lost.first_sequence_number,
        )["ShardIterator"]
        last = int(lost.last_sequence_number)
        found: dict[str, None] = {}
        for _ in range(_MAX_PAGES):
            if iterator is None:
                break
            answer = self._client.get_records(ShardIterator=iterator)
            for record in answer["Records"]:
                change = record["dynamodb"]
                number = int(change["SequenceNumber"])
                if number <= last:
                    found[change["Keys"][JOBS_KEY]["S"]] = None
                if number >= last:
                    return list(found)
            iterator = answer.get("NextShardIterator")
        return None
