"""Time and chance, injected, so that a test decides both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Jitter = Callable[[], float]
"""A number from 0 up to 1."""

RemainingSeconds = Callable[[], float]
"""How long this invocation may still run."""


class Clock(Protocol):
    def now(self) -> int:
        """Epoch milliseconds."""
        ...


class Ids(Protocol):
    def job_id(self, now: int) -> str:
        """A new job id whose time part is `now`, epoch milliseconds."""
        ...

    def write_id(self) -> str:
        """A new id for one transition, at most 36 characters (it is a transaction's request token too)."""
        ...
