"""The running stack from outside: rows, objects and queues through the emulator, processes by the kernel."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any

from thumbline.adapters.aws.failures import unavailable_when_failing
from thumbline.domain.job import Job, Status
from thumbline.domain.keys import thumbnails_prefix
from thumbline.domain.listing import JobSummary
from tools.local.processes import ProcessIdentity
from tools.local.state import StackState
from tools.operator.stage import local_clients, local_stage
from tools.soak.assassin import workers_of

WORKER = "ThumbnailWorkerFunctionName"
RELAY = "OutboxRelayFunctionName"
RECONCILER = "JobReconcilerFunctionName"

_WARM_SECONDS = 5.0
"""A cold start, on a machine with much else to do."""


class Place(Enum):
    """How far one attempt has come, as its row and its objects show it."""

    CLAIMED = auto()
    """The row is RUNNING and there is no thumbnail yet."""
    PUT = auto()
    """The thumbnail is there and the row is still RUNNING."""
    RECORDED = auto()
    """The row is terminal."""
    ELSEWHERE = auto()


class View:
    """Changes nothing but for `invoke_reconciler`. Safe to share between threads.

    Whatever asks the emulator raises DependencyUnavailableError.
    """

    def __init__(self, state: StackState) -> None:
        self._stage = local_stage(state)
        self._s3: Any = local_clients(state).make("s3")
        self._lambda: Any = local_clients(state).make("lambda")
        self._outputs = state.outputs
        self._run = Path(state.run)
        self._first_seen: dict[ProcessIdentity, float] = {}

    def now(self) -> int:
        return self._stage.reconciler.clock.now()

    def job(self, job_id: str) -> Job | None:
        return self._stage.reconciler.jobs.get(job_id)

    def accepted_since(self, moment: int) -> Iterator[JobSummary]:
        """Every row of a job that was accepted at this moment or later (epoch milliseconds)."""
        for status in Status:
            for summary in self._stage.statuses.with_status(status):
                if summary.created_at >= moment:
                    yield summary

    def first_attempts(self) -> list[str]:
        """Jobs whose first attempt holds a live lease, the newest claim first."""
        running = [self.job(summary.job_id) for summary in self._stage.statuses.with_status(Status.RUNNING)]
        live = [
            job
            for job in running
            if job is not None and job.attempts == 1 and job.has_live_lease(self.now(), skew_seconds=0)
        ]
        return [job.job_id for job in sorted(live, key=lambda job: job.started_at or 0, reverse=True)]

    def place_of(self, job_id: str) -> Place:
        job = self.job(job_id)
        if job is None or job.status is Status.QUEUED or job.attempts != 1:
            return Place.ELSEWHERE
        if not job.is_open:
            return Place.RECORDED
        with unavailable_when_failing("s3"):
            listing = self._s3.list_objects_v2(
                Bucket=self._outputs["BucketName"], Prefix=thumbnails_prefix(job_id)
            )
        return Place.PUT if listing.get("Contents") else Place.CLAIMED

    def copies(self) -> int:
        """How many annotated copies lie in the dead-letter queue."""
        depth = self._stage.dead_letters.depth()
        return depth.visible + depth.in_flight

    def messages_in_flight(self) -> int:
        return self._stage.reconciler.work_queue.depth().in_flight

    def last_pass_at(self) -> int | None:
        """When the reconciler's last whole pass wrote its snapshot."""
        snapshot = self._stage.reconciler.snapshots.read_snapshot()
        return None if snapshot is None else snapshot.taken_at

    def invoke_reconciler(self) -> None:
        """One more pass, beside the schedule's own, without waiting for its end."""
        with unavailable_when_failing("lambda"):
            self._lambda.invoke(FunctionName=self._outputs[RECONCILER], InvocationType="Event")

    def processes(self, output: str) -> Sequence[ProcessIdentity]:
        """The processes that run one function now."""
        return workers_of(self._outputs[output], self._run)

    def is_warm(self, output: str) -> bool:
        """Whether all processes that run the function have been seen for long enough to be at work."""
        found = self.processes(output)
        now = time.monotonic()
        ages_seconds = [now - self._first_seen.setdefault(process, now) for process in found]
        return bool(found) and min(ages_seconds) >= _WARM_SECONDS

    def wait_for_processes(self, output: str, seconds: float) -> Sequence[ProcessIdentity]:
        """The same, once there are any; none where that takes too long."""
        deadline = time.monotonic() + seconds
        while not (found := self.processes(output)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found
