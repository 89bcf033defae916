"""One pass. Safe to run twice at once: every write repeats in its condition what was seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.schema import ORIGINALS_PREFIX
from thumbline.domain.snapshot import Snapshot
from thumbline.service.reconcile.drain_undelivered import drain_undelivered
from thumbline.service.reconcile.measure_wait import measure_wait
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport
from thumbline.service.reconcile.renew_owed import renew_owed
from thumbline.service.reconcile.sweep_orphans import sweep_orphans
from thumbline.service.reconcile.treat_due_jobs import treat_due_jobs


def run_pass(reconciler: Reconciler) -> ReconcileReport:
    """Each part runs even where another's dependency is down; never raises for that."""
    report = ReconcileReport()
    for part in (measure_wait, treat_due_jobs, drain_undelivered, renew_owed):
        with _reported(report):
            part(reconciler, report)
    with _reported(report):
        _keep_snapshot(reconciler, report)
    return report


@contextmanager
def _reported(report: ReconcileReport) -> Iterator[None]:
    try:
        yield
    except DependencyUnavailableError as error:
        report.counts[Healed.FAILED] += 1
        report.errors.append(str(error))


def _keep_snapshot(reconciler: Reconciler, report: ReconcileReport) -> None:
    """Sweeps orphans from the last pass's cursor, and writes down what this pass knows."""
    last = reconciler.snapshots.read_snapshot()
    if last is not None:
        for job_id in filter(None, dict.fromkeys((last.oldest_open, last.oldest_queued))):
            report.meet(reconciler.jobs.get(job_id))
    cursor = ORIGINALS_PREFIX if last is None else last.orphans_seen_until
    with _reported(report):
        cursor = sweep_orphans(reconciler, report, cursor)
    reconciler.snapshots.write_snapshot(
        Snapshot(
            taken_at=reconciler.clock.now(),
            backlog=report.backlog,
            expected_wait_ms=report.expected_wait_ms,
            orphans_seen_until=cursor,
            oldest_open=_id_of(report.oldest_open),
            oldest_queued=_id_of(report.oldest_queued),
        )
    )


def _id_of(job: Job | None) -> str | None:
    return None if job is None else job.job_id
