"""What kind of day a seed is: every fault at once, the same without the reconciler, or none at all."""

from __future__ import annotations

from enum import StrEnum


class Day(StrEnum):
    STORMY = "stormy"
    UNAIDED = "unaided"
    """Stormy, and the reconciler sleeps until the main path has done what it can: it hides nothing."""
    FAIR = "fair"
    """No fault, no stranger's message, no picture that kills: whatever the reconciler has to heal, the main
    path has broken."""


_DAYS = (Day.STORMY, Day.STORMY, Day.STORMY, Day.UNAIDED, Day.FAIR)


def day_of(seed: int) -> Day:
    return _DAYS[seed % len(_DAYS)]
