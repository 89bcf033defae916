"""One relation between two numbers of a stage."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Relation:
    """`smaller` must be at most `larger`, or less than it where `strict`."""

    name: str
    smaller: float
    larger: float
    strict: bool = False

    @property
    def holds(self) -> bool:
        return self.smaller < self.larger if self.strict else self.smaller <= self.larger
