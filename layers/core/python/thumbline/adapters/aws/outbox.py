"""The jobs table's stream, read again."""

from __future__ import annotations

from collections.abc import Mapping
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

    def owed(self, lost: LostBatch) -> Mapping[str, int] | None:
        try:
            with unavailable_when_failing(DEPENDENCY):
                return self._read(lost)
        except DependencyUnavailableError as error:
            if error.detail in _FORGOTTEN:
                return None
            raise

    def _read(self, lost: LostBatch) -> dict[str, int] | None:
        iterator: str | None = self._client.get_shard_iterator(
            StreamArn=lost.stream_arn,
            ShardId=lost.shard_id,
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=lost.first_sequence_number,
        )["ShardIterator"]
        last = int(lost.last_sequence_number)
        found: dict[str, int] = {}
        for _ in range(_MAX_PAGES):
            if iterator is None:
                break
            answer = self._client.get_records(ShardIterator=iterator)
            for record in answer["Records"]:
                change = record["dynamodb"]
                number = int(change["SequenceNumber"])
                image = change.get("NewImage", {})
                if number <= last and "outbox_seq" in image:  # neither a removed row nor the snapshot
                    found[image[JOBS_KEY]["S"]] = int(image["outbox_seq"]["N"])
                if number >= last:
                    return found
            iterator = answer.get("NextShardIterator")
        return None
