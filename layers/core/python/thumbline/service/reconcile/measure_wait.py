"""How long a job waits for a worker at present, measured on those that are being worked on."""

from __future__ import annotations

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Status, dead_from
from thumbline.domain.keys import Phase, shards_of
from thumbline.domain.snapshot import expected_wait_ms
from thumbline.service.reconcile.reconciler import Reconciler, ReconcileReport

_SAMPLES_PER_SHARD = 3


def measure_wait(reconciler: Reconciler, report: ReconcileReport) -> None:
    """Fills in the backlog and the expected wait. Raises DependencyUnavailableError.

    Until it has succeeded the wait is unknown, which postpones re-publishing instead of adding to a backlog.
    """
    report.expected_wait_ms = None
    report.backlog = reconciler.work_queue.depth().visible
    waits = _waits_ms(reconciler) if report.backlog else []
    report.expected_wait_ms = expected_wait_ms(report.backlog, waits)


def _waits_ms(reconciler: Reconciler) -> list[int]:
    """A running job's check lies at the end of its lease, so a few reads find some that started just now."""
    now = reconciler.clock.now()
    until = dead_from(now + reconciler.timings.lease_seconds * 1000, reconciler.timings)
    waits = (
        _wait_ms(reconciler, job_id)
        for shard in shards_of(Phase.RUNNING)
        for job_id in reconciler.jobs.upcoming(shard, now, until, _SAMPLES_PER_SHARD)
    )
    return [wait for wait in waits if wait is not None]


def _wait_ms(reconciler: Reconciler, job_id: str) -> int | None:
    """Only a first attempt with its first message tells it: `started_at` is the first start, `available_at`
    the last entry, and a message that was sent again has waited for less time than its job."""
    try:
        job = reconciler.jobs.get(job_id)
    except DependencyUnavailableError:
        raise
    except Exception:  # what this version cannot read says nothing of the wait; its own check reports it
        return None
    if job is None or job.status is not Status.RUNNING or job.started_at is None:
        return None
    if job.attempts != 1 or job.republish_count:
        return None
    wait = job.started_at - job.available_at
    return wait if wait >= 0 else None
