"""What Lambda leaves in the relay failure queue: where in the stream it gave up, not what was there.
https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thumbline.domain.json_text import parse_json

_SEQUENCE_NUMBER = re.compile(r"[0-9]{1,40}")


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
        info = parse_json(body)["DDBStreamBatchInfo"]
        return LostBatch(
            stream_arn=_text(info["streamArn"]),
            shard_id=_text(info["shardId"]),
            first_sequence_number=_sequence_number(info["startSequenceNumber"]),
            last_sequence_number=_sequence_number(info["endSequenceNumber"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _sequence_number(value: object) -> str:
    """A whole number in text; readers compare it as a number."""
    text = _text(value)
    if not _SEQUENCE_NUMBER.fullmatch(text):
        raise ValueError("no sequence number")
    return text
