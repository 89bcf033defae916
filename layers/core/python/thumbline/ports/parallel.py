"""Doing independent things at once, injected, so that a simulation does them one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class InParallel(Protocol):
    """As the built-in `map`: results in the order of the items, and the first error raised."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterable[Result]: ...
