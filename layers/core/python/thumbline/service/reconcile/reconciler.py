"""What the reconciler is made of, and the counts that its pass returns."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from thumbline.domain.job import Job, Status
from thumbline.domain.schema import ORIGINALS_PREFIX
from thumbline.domain.timings import Timings
from thumbline.domain.transition import Moment
from thumbline.ports.clock import Clock, Ids
from thumbline.ports.jobs import ReconcilerJobs
from thumbline.ports.objects import ReconcilerObjects
from thumbline.ports.outbox import OutboxReader
from thumbline.ports.parallel import InParallel
from thumbline.ports.queue import MessageReceiver, WorkQueue
from thumbline.ports.snapshots import SnapshotStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """What one pass needs from the outside; `max_jobs_per_run` caps each part of it.

    `in_parallel` treats independent rows or messages.
    """

    jobs: ReconcilerJobs
    snapshots: SnapshotStore
    objects: ReconcilerObjects
    outbox: OutboxReader
    work_queue: WorkQueue
    undelivered_queue: MessageReceiver
    relay_failure_queue: MessageReceiver
    clock: Clock
    ids: Ids
    timings: Timings
    max_jobs_per_run: int
    in_parallel: InParallel = map

    def moment(self) -> Moment:
        return Moment(self.clock.now(), self.ids.write_id(), self.timings)


MAX_ERRORS = 50
"""Of a pass, in words; all are counted. A log line has an end: 256 KB."""


class Healed(StrEnum):
    """What a pass did to one job or message."""

    REPUBLISHED = "republished"
    RESCUED = "rescued"
    REQUEUED = "requeued"
    EXPIRED = "expired"
    EXHAUSTED = "exhausted"
    POSTPONED = "postponed"
    NOTHING = "nothing"
    """Looked at and as it should be: not counted."""
    RETIRED = "retired"
    PURGED = "purged"
    OWED_AGAIN = "owed_again"
    ORPHAN_REMOVED = "orphan_removed"
    DROPPED = "dropped"
    LEFT = "left"
    UNPUBLISHED = "unpublished"
    """The row was healed but the queue did not confirm; the next check sends again."""
    OVERTAKEN = "overtaken"
    """Another writer was faster: nothing to do."""
    FAILED = "failed"
    """A dependency was down."""
    BROKEN = "broken"
    """Our own error, or a row or message that this version cannot read."""


@dataclass(slots=True)
class ReconcileReport:
    """Counts, a sentence for each of the first failures, and the oldest jobs that were met."""

    counts: Counter[Healed] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    orphans_seen_until: str = ORIGINALS_PREFIX
    """The last original's key that the orphan sweep has looked at."""
    backlog: int = 0
    expected_wait_ms: int | None = 0
    oldest_open: Job | None = None
    oldest_queued: Job | None = None

    def note(self, healed: Healed, job: Job | None = None, error: str | None = None) -> None:
        if healed is not Healed.NOTHING:
            self.counts[healed] += 1
        self.meet(job)
        if error is not None and len(self.errors) < MAX_ERRORS:
            self.errors.append(error)

    def meet(self, job: Job | None) -> None:
        """Remembers the oldest open job, and the one that has been QUEUED and available longest."""
        if job is None or job.is_deleted or not job.is_open:
            return
        if self.oldest_open is None or job.created_at < self.oldest_open.created_at:
            self.oldest_open = job
        if job.status is Status.QUEUED and (
            self.oldest_queued is None or job.available_at < self.oldest_queued.available_at
        ):
            self.oldest_queued = job

    def oldest_open_seconds(self, now: int) -> float:
        return 0.0 if self.oldest_open is None else (now - self.oldest_open.created_at) / 1000

    def oldest_queued_seconds(self, now: int) -> float:
        """How long the longest available job has waited; 0 while a backoff still runs."""
        if self.oldest_queued is None:
            return 0.0
        return max(0.0, (now - self.oldest_queued.available_at) / 1000)


def told(error: Exception) -> str:
    """An error of ours in one line, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
