"""Independent rows or messages, some at a time: one that cannot be treated must not hide the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.transition import TransitionRefusedError
from thumbline.service.reconcile.allowance import Allowance
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport, told

Item = TypeVar("Item")
AT_ONCE = 8
"""Between two looks at the time, and below the ten connections that a client's pool keeps."""


@dataclass(frozen=True, slots=True)
class Treated:
    healed: Healed
    job: Job | None = None
    """The row as it was read."""
    error: str | None = None


def treat_each(
    items: Sequence[Item],
    treat: Callable[[Item], Treated],
    reconciler: Reconciler,
    report: ReconcileReport,
    allowance: Allowance,
) -> list[Treated]:
    """What became of the items, in their order; fewer than there are where the time was over.

    Raises NothingWorksError.
    """
    done: list[Treated] = []
    for start in range(0, len(items), AT_ONCE):
        if allowance.is_over:
            break
        chunk = list(
            reconciler.in_parallel(lambda item: _safely(treat, item), items[start : start + AT_ONCE])
        )
        for treated in chunk:
            report.note(treated.healed, treated.job, treated.error)
        for treated in chunk:
            allowance.spend(failed=treated.healed is Healed.FAILED)
        done += chunk
    return done


def untreated(item: object, error: Exception) -> Treated:
    """What is told of an item that an error came between. By its id: what it holds is not for a log."""
    name = getattr(item, "message_id", item)
    match error:
        case TransitionRefusedError():
            return Treated(Healed.OVERTAKEN, error.job)
        case DependencyUnavailableError():
            return Treated(Healed.FAILED, error=f"{name}: {error}")
        case _:
            return Treated(Healed.BROKEN, error=f"{name}: {told(error)}")


def _safely(treat: Callable[[Item], Treated], item: Item) -> Treated:
    try:
        return treat(item)
    except Exception as error:
        return untreated(item, error)
