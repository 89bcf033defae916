"""Faults on demand: the next calls of an operation fail before they act, or act and lose the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Protocol

from thumbline.domain.errors import DependencyUnavailableError


class Boundary(Protocol):
    """What every effect of a twin passes through. A simulation takes its turns here."""

    def around(self, dependency: str, operation: str) -> AbstractContextManager[None]:
        """Before and after the effect, which is the body. Raises DependencyUnavailableError for a fault."""
        ...


class Fault(Enum):
    REFUSED = auto()
    """Nothing happened."""
    ANSWER_LOST = auto()
    """It happened, and the caller does not know."""


@dataclass(slots=True)
class Faults:
    """One plan for all twins of a test. `watch` sees every operation, before and after its effect."""

    planned: dict[str, deque[Fault]] = field(default_factory=dict)
    watch: Callable[[str], None] | None = None

    def plan(self, operation: str, *faults: Fault) -> None:
        self.planned.setdefault(operation, deque()).extend(faults)

    @contextmanager
    def around(self, dependency: str, operation: str) -> Iterator[None]:
        """Raises DependencyUnavailableError where a fault is planned."""
        waiting = self.planned.get(operation)
        fault = waiting.popleft() if waiting else None
        if self.watch is not None:
            self.watch(f"before {operation}")
        if fault is Fault.REFUSED:
            raise DependencyUnavailableError(dependency, f"{operation} was refused")
        try:
            yield
        finally:
            if self.watch is not None:
                self.watch(f"after {operation}")
        if fault is Fault.ANSWER_LOST:
            raise DependencyUnavailableError(dependency, f"the answer of {operation} was lost")
