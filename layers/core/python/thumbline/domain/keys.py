"""Identifiers and object keys. Everything derives from the job id, never from what a client sent."""

from __future__ import annotations

import re
import zlib
from enum import StrEnum

from thumbline.domain.schema import DUE_SHARDS, ORIGINALS_PREFIX, THUMBNAILS_PREFIX

JOB_ID_PREFIX = "img_"
RANDOM_BITS = 80
_TIME_BITS = 48
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 26
_PATTERN = re.compile(rf"{JOB_ID_PREFIX}[{_ALPHABET}]{{{_LENGTH}}}")


def job_id(now: int, randomness: int) -> str:
    """A time-sortable id, a ULID: 48 bits of epoch milliseconds and 80 random ones in Crockford's base 32."""
    if not 0 <= now < 1 << _TIME_BITS:
        raise ValueError(f"time {now} does not fit in {_TIME_BITS} bits")
    if not 0 <= randomness < 1 << RANDOM_BITS:
        raise ValueError(f"randomness does not fit in {RANDOM_BITS} bits")
    number = now << RANDOM_BITS | randomness
    digits = [_ALPHABET[number >> 5 * place & 31] for place in reversed(range(_LENGTH))]
    return JOB_ID_PREFIX + "".join(digits)


def is_job_id(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def created_at_of(job_id: str) -> int:
    """The epoch milliseconds inside a job id."""
    number = 0
    for digit in job_id.removeprefix(JOB_ID_PREFIX):
        number = number << 5 | _ALPHABET.index(digit)
    return number >> RANDOM_BITS


def original_key(job_id: str) -> str:
    return f"{ORIGINALS_PREFIX}{job_id}"


def thumbnails_prefix(job_id: str) -> str:
    return f"{THUMBNAILS_PREFIX}{job_id}/"


def thumbnail_key(job_id: str, preset: str, sha256: str, extension: str) -> str:
    """Derived from the job and the content: a redo overwrites itself, a stale worker nobody else's."""
    return f"{thumbnails_prefix(job_id)}{preset}-{sha256[:16]}.{extension}"


class Phase(StrEnum):
    """Which checks lie together in the due index. Those of ended jobs are many and can wait, so no other
    check may stand behind them; those of running jobs tell how long jobs wait now."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


def shard_of(job_id: str, phase: Phase) -> str:
    """The due index's partition for a job; stable across processes, unlike hash()."""
    return f"{phase}-{zlib.crc32(job_id.encode()) % DUE_SHARDS}"


def shards_of(phase: Phase) -> tuple[str, ...]:
    return tuple(f"{phase}-{number}" for number in range(DUE_SHARDS))
