"""What a pass would do now, read and not done."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from thumbline.domain.checkup import Treatment, diagnose
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.keys import Phase
from thumbline.ports.queue import Backlog
from thumbline.service.reconcile.measure_wait import measure_wait
from thumbline.service.reconcile.reconciler import Reconciler, ReconcileReport
from thumbline.service.reconcile.treat_due_jobs import due_jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """`backlog`, `undelivered` and `relay_failures` are visible messages, by the queues' own estimates.

    `expected_wait_ms` is None where there is a backlog and no job runs from its first message.
    """

    backlog: int
    expected_wait_ms: int | None
    undelivered: int
    relay_failures: int
    treatments: dict[str, Treatment] = field(default_factory=dict)
    """By job id, the longest due of a shard first."""
    broken: list[str] = field(default_factory=list)
    """Due jobs whose row this version cannot read."""


def preview_pass(reconciler: Reconciler, *, undelivered: Backlog, relay_failures: Backlog) -> Preview:
    """Looks at as many due rows as a pass treats, and receives no message.

    Raises DependencyUnavailableError.
    """
    report = ReconcileReport()
    measure_wait(reconciler, report)
    preview = Preview(
        backlog=report.backlog,
        expected_wait_ms=report.expected_wait_ms,
        undelivered=undelivered.depth().visible,
        relay_failures=relay_failures.depth().visible,
    )
    for job_id in chain.from_iterable(due_jobs(phase, reconciler) for phase in Phase):
        try:
            job = reconciler.jobs.get(job_id)
        except DependencyUnavailableError:
            raise
        except Exception:  # as a pass does, this goes on without it
            preview.broken.append(job_id)
            continue
        diagnosis = diagnose(job, reconciler.clock.now(), reconciler.timings, report.expected_wait_ms)
        if diagnosis.treatment is not Treatment.NONE:
            preview.treatments[job_id] = diagnosis.treatment
    return preview
