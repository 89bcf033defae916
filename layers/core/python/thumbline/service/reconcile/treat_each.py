"""Independent rows or messages, some at a time: one that cannot be treated must not hide the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.transition import TransitionRefusedError
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport, told
from thumbline.service.reconcile.time_share import TimeShare

Item = TypeVar("Item")
CHUNK = 16
"""Between two looks at the time."""


class NothingWorksError(Exception):
    """Every item of a chunk met a dependency that is down, and is reported: the next would fare no better."""


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
    time: TimeShare,
) -> list[Treated]:
    """What became of the items, in their order; fewer than there are where the time was over.

    Raises NothingWorksError.
    """
    done: list[Treated] = []
    for start in range(0, len(items), CHUNK):
        if time.is_over:
            break
        chunk = list(reconciler.in_parallel(lambda item: _safely(treat, item), items[start : start + CHUNK]))
        for treated in chunk:
            report.note(treated.healed, treated.job, treated.error)
        if all(treated.healed is Healed.FAILED for treated in chunk):
            raise NothingWorksError
        done += chunk
    return done


def _safely(treat: Callable[[Item], Treated], item: Item) -> Treated:
    try:
        return treat(item)
    except TransitionRefusedError as refused:
        return Treated(Healed.OVERTAKEN, refused.job)
    except DependencyUnavailableError as error:
        return Treated(Healed.FAILED, error=f"{_name(item)}: {error}")
    except Exception as error:
        return Treated(Healed.BROKEN, error=f"{_name(item)}: {told(error)}")


def _name(item: object) -> str:
    """A job or a message by its id: what it holds is not for a log."""
    return str(getattr(item, "message_id", item))
