"""What a part of a pass may spend: half of the time that is left, and so many failures in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from thumbline.ports.clock import RemainingSeconds

FINISHING_SECONDS = 20.0
"""Kept back: for what hangs when a part's time is over, and then for the snapshot and the metrics, without
which nobody would know that the pass was too short."""
MAX_FAILURES_IN_A_ROW = 16
"""A dependency that is down fails them all; one row or object that alone is refused fails once."""


@dataclass(slots=True)
class Allowance:
    """Half, so that a part with much to do starves none of those behind it."""

    remaining_seconds: RemainingSeconds
    stop_at_seconds: float
    failures_in_a_row: int = 0

    @classmethod
    def of(cls, remaining_seconds: RemainingSeconds) -> Self:
        left = max(0.0, remaining_seconds() - FINISHING_SECONDS)
        return cls(remaining_seconds, FINISHING_SECONDS + left / 2)

    @property
    def is_over(self) -> bool:
        return self.remaining_seconds() <= self.stop_at_seconds

    def spend(self, *, failed: bool) -> None:
        """Counts one item. Raises NothingWorksError."""
        self.failures_in_a_row = self.failures_in_a_row + 1 if failed else 0
        if self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise NothingWorksError


class NothingWorksError(Exception):
    """One item after the other met a dependency that is down, and is reported: the next would, too."""
