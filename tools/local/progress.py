"""Steps with their times, printed as they happen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Printer = Callable[[str], None]


def to_terminal(line: str) -> None:
    print(line, flush=True)


class Progress:
    """Prints what is being done when a step begins, and its seconds when it has ended."""

    def __init__(self, printer: Printer, clock: Callable[[], float] = time.monotonic) -> None:
        self._print = printer
        self._clock = clock
        self._began = clock()

    @contextmanager
    def step(self, doing: str) -> Iterator[None]:
        began = self._clock()
        self._print(f"  {doing} ...")
        yield
        self._print(f"  {doing}: {self._clock() - began:.1f} s")

    def note(self, line: str) -> None:
        self._print(line)

    def elapsed_seconds(self) -> float:
        return self._clock() - self._began
