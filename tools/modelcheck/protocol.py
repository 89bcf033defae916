"""Who takes part, as one value: the seam at which a test plants a step in the wrong place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tools.modelcheck.configuration import Configuration
from tools.modelcheck.people import OperatorMoves
from tools.modelcheck.reconciler import PassMoves
from tools.modelcheck.worker import WorkerMoves


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    worker: Callable[[Configuration], WorkerMoves] = WorkerMoves
    reconciler: Callable[[Configuration], PassMoves] = PassMoves
    operator: Callable[[Configuration], OperatorMoves] = OperatorMoves
