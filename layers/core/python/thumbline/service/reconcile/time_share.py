"""How much of a pass one of its parts may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from thumbline.ports.clock import RemainingSeconds

FINISHING_SECONDS = 10.0
"""Kept back for the snapshot and the metrics, without which nobody would know that the pass was too short."""


@dataclass(frozen=True, slots=True)
class TimeShare:
    """Half of what is left when the part begins: a part with much to do starves none of those behind it."""

    remaining_seconds: RemainingSeconds
    stop_at_seconds: float

    @classmethod
    def of(cls, remaining_seconds: RemainingSeconds) -> Self:
        left = max(0.0, remaining_seconds() - FINISHING_SECONDS)
        return cls(remaining_seconds, FINISHING_SECONDS + left / 2)

    @property
    def is_over(self) -> bool:
        return self.remaining_seconds() <= self.stop_at_seconds
