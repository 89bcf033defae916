"""What Lambda leaves in the relay failure queue: where in the stream it gave up, not what was there.
https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LostBatch:
    """A stretch of one shard, both sequence numbers included."""

    stream_arn: str
    shard_id: str
    first_sequence_number: str
    last_sequence_number: str


def parse_lost_batch(body: str) -> LostBatch | None:
    """None for a body that is no such record."""
    try:
        info = json.loads(body)["DDBStreamBatchInfo"]
        return LostBatch(
            stream_arn=str(info["streamArn"]),
            shard_id=str(info["shardId"]),
            first_sequence_number=str(info["startSequenceNumber"]),
            last_sequence_number=str(info["endSequenceNumber"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
