"""One pass. Safe to run twice at once: every write repeats in its condition what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.keys import Phase
from thumbline.domain.snapshot import Snapshot
from thumbline.ports.clock import RemainingSeconds
from thumbline.service.reconcile.allowance import Allowance, NothingWorksError
from thumbline.service.reconcile.drain_undelivered import drain_undelivered
from thumbline.service.reconcile.measure_wait import measure_wait
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport, told
from thumbline.service.reconcile.renew_owed import renew_owed
from thumbline.service.reconcile.sweep_orphans import sweep_orphans
from thumbline.service.reconcile.treat_due_jobs import treat_due_jobs

Part = Callable[[Reconciler, ReconcileReport, Allowance], None]
_PARTS: tuple[Part, ...] = (
    partial(treat_due_jobs, Phase.RUNNING),
    partial(treat_due_jobs, Phase.QUEUED),
    drain_undelivered,
    renew_owed,
    partial(treat_due_jobs, Phase.ENDED),
)
"""What clients wait for comes first."""


def run_pass(reconciler: Reconciler, remaining_seconds: RemainingSeconds) -> ReconcileReport:
    """Each part runs whatever befell another, and leaves time to those behind it. Raises nothing for that.

    `remaining_seconds` is how long the invocation may still run.
    """
    report = ReconcileReport()
    with _reported(report):
        measure_wait(reconciler, report)
    for part in _PARTS:
        with _reported(report):
            part(reconciler, report, Allowance.of(remaining_seconds))
    with _reported(report):
        _keep_snapshot(reconciler, report, remaining_seconds)
    return report


@contextmanager
def _reported(report: ReconcileReport) -> Iterator[None]:
    try:
        yield
    except NothingWorksError:
        return
    except DependencyUnavailableError as error:
        report.note(Healed.FAILED, error=str(error))
    except Exception as error:
        report.note(Healed.BROKEN, error=told(error))


def _keep_snapshot(
    reconciler: Reconciler, report: ReconcileReport, remaining_seconds: RemainingSeconds
) -> None:
    """Sweeps orphans from the last pass's cursor, and writes down what this pass knows.

    A snapshot that cannot be read is not overwritten: the sweep would begin again with the oldest original.
    """
    last = reconciler.snapshots.read_snapshot()
    if last is not None:
        report.orphans_seen_until = last.orphans_seen_until
        for job_id in filter(None, dict.fromkeys((last.oldest_open, last.oldest_queued))):
            with _reported(report):
                report.meet(reconciler.jobs.get(job_id))
    with _reported(report):
        sweep_orphans(reconciler, report, Allowance.of(remaining_seconds))
    reconciler.snapshots.write_snapshot(
        Snapshot(
            taken_at=reconciler.clock.now(),
            backlog=report.backlog,
            expected_wait_ms=report.expected_wait_ms,
            orphans_seen_until=report.orphans_seen_until,
            oldest_open=_id_of(report.oldest_open),
            oldest_queued=_id_of(report.oldest_queued),
        )
    )


def _id_of(job: Job | None) -> str | None:
    return None if job is None else job.job_id
