"""The fair steps between states, kept backwards in flat arrays, and what must be reachable along them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

_NONE = 0xFFFFFFFF


DRAINED = 1
"""A mark: terminal or gone, nothing in flight, nothing owed, nobody busy."""
SUCCEEDED = 2
STARTABLE = 4
"""A mark: QUEUED with attempts left, before its deadline."""


class Graph:
    def __init__(self) -> None:
        self._marks = bytearray()
        self._last_in = array("I")
        self._previous_in = array("I")
        self._sources = array("I")
        self._completing = bytearray()

    def add_state(self, marks: int) -> None:
        self._marks.append(marks)
        self._last_in.append(_NONE)

    def add_edge(self, source: int, target: int, completes: bool) -> None:
        self._previous_in.append(self._last_in[target])
        self._last_in[target] = len(self._sources)
        self._sources.append(source)
        self._completing.append(completes)

    @property
    def edge_count(self) -> int:
        return len(self._sources)

    def unfulfilled(self) -> Iterator[tuple[str, int]]:
        """For each promise that is broken, a nearest state from which it cannot be kept."""
        drains = self._can_reach(DRAINED, completing=True)
        yield from self._first("I8: no drained terminal state is reachable", drains, 0)
        drains = self._can_reach(DRAINED, completing=False)
        yield from self._first("I8: a job that never completes never ends", drains, 0)
        succeeds = self._can_reach(SUCCEEDED, completing=True)
        yield from self._first("I8: a job with attempts left can no longer succeed", succeeds, STARTABLE)

    def _first(self, sentence: str, reached: bytearray, required: int) -> Iterator[tuple[str, int]]:
        for number, marks in enumerate(self._marks):
            if not reached[number] and marks & required == required:
                yield sentence, number
                return

    def _can_reach(self, goal: int, *, completing: bool) -> bytearray:
        reached = bytearray(len(self._marks))
        waiting = [number for number, marks in enumerate(self._marks) if marks & goal]
        for number in waiting:
            reached[number] = 1
        sources, previous_in = self._sources, self._previous_in
        while waiting:
            edge = self._last_in[waiting.pop()]
            while edge != _NONE:
                source = sources[edge]
                if not reached[source] and (completing or not self._completing[edge]):
                    reached[source] = 1
                    waiting.append(source)
                edge = previous_in[edge]
        return reached
