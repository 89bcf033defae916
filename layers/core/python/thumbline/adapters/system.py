"""The real clock and real randomness."""

from __future__ import annotations

import secrets
import time
import uuid

from thumbline.domain import keys


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000


class RandomIds:
    def job_id(self, now: int) -> str:
        return keys.job_id(now, secrets.randbits(keys.RANDOM_BITS))

    def write_id(self) -> str:
        return uuid.uuid4().hex


def system_jitter() -> float:
    return secrets.SystemRandom().random()
