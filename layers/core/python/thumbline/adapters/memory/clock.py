"""A clock that a test turns, and ids that a seed decides."""

from __future__ import annotations

import random

from thumbline.domain import keys


class ManualClock:
    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += round(seconds * 1000)


class SeededIds:
    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def job_id(self, now: int) -> str:
        return keys.job_id(now, self._random.getrandbits(keys.RANDOM_BITS))

    def write_id(self) -> str:
        return f"{self._random.getrandbits(128):032x}"
