"""What an actor may do next, given the row and what it remembers."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from tools.modelcheck.broker import Effect, nothing
from tools.modelcheck.rows import MaybeRow

Local = TypeVar("Local")


class Move(NamedTuple, Generic[Local]):
    """`fair`: the system itself does this sooner or later, without client, operator, deadline or fault."""

    label: str
    row: MaybeRow
    local: Local
    effect: Effect = Effect(nothing)
    changed: int = 0
    fair: bool = True
    completes: bool = False
    takes_returned: bool = False
    """It takes a visible message that an earlier receiver still holds a handle for."""
    after_late_workers: bool = False
    """Only once no worker is left that claimed the job before."""
    violation: str | None = None
