"""A whole state, readable, and the numbering of its components."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from tools.modelcheck.broker import Broker
from tools.modelcheck.rows import MaybeRow

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)

SHIFT = 14
"""Bits of a component's number, where two of them make one key."""


class State(NamedTuple):
    row: MaybeRow
    broker: Broker
    actors: tuple[object, ...]

    def __str__(self) -> str:
        row = "gone" if self.row is None else str(self.row)
        busy = [str(actor) for actor in self.actors if str(actor) != "idle"]
        return f"row: {row} | queues: {self.broker} | {'; '.join(busy) or 'everybody idle'}"


class Numbers(Generic[Value]):
    """Each value has one small number."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}

    def of(self, value: Value) -> int:
        """Raises OverflowError beyond what a key has room for."""
        number = self._numbers.get(value)
        if number is None:
            number = len(self.values)
            if number >> SHIFT:
                raise OverflowError(f"more than {number} different {type(value).__name__}: raise SHIFT")
            self._numbers[value] = number
            self.values.append(value)
        return number


class Table(dict[Key, Value]):
    """A function's results, each computed once."""

    def __init__(self, compute: Callable[[Key], Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: Key) -> Value:
        value = self[key] = self._compute(key)
        return value
