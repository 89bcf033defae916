"""What the reconciler is made of, and the counts that its pass returns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from thumbline.domain.timings import Timings
from thumbline.domain.transition import Moment
from thumbline.ports.clock import Clock, Ids
from thumbline.ports.jobs import JobStore
from thumbline.ports.objects import ObjectRemover
from thumbline.ports.queue import MessageReceiver, WorkQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """`drain_floor_per_minute` is the least that a healthy fleet completes; it bounds a backlog's wait."""

    jobs: JobStore
    objects: ObjectRemover
    work_queue: WorkQueue
    undelivered_queue: MessageReceiver
    clock: Clock
    ids: Ids
    timings: Timings
    max_jobs_per_run: int
    drain_floor_per_minute: int

    def moment(self) -> Moment:
        return Moment(self.clock.now(), self.ids.write_id(), self.timings)


class Healed(StrEnum):
    """What a pass did to one job or message."""

    REPUBLISHED = "republished"
    RESCUED = "rescued"
    REQUEUED = "requeued"
    EXPIRED = "expired"
    EXHAUSTED = "exhausted"
    POSTPONED = "postponed"
    RETIRED = "retired"
    PURGED = "purged"
    DROPPED = "dropped"
    LEFT = "left"
    UNPUBLISHED = "unpublished"
    """The row was healed but the queue did not confirm; the next check sends again."""
    OVERTAKEN = "overtaken"
    """Another writer was faster: nothing to do."""
    FAILED = "failed"


@dataclass(slots=True)
class ReconcileReport:
    """Counts, and one sentence for each failure."""

    counts: Counter[Healed] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
