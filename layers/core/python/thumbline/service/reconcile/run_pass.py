"""One pass. Safe to run twice at once: every write repeats in its condition what was seen."""

from __future__ import annotations

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.service.reconcile.drain_undelivered import drain_undelivered
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport
from thumbline.service.reconcile.treat_due_jobs import treat_due_jobs


def run_pass(reconciler: Reconciler) -> ReconcileReport:
    """Each part runs even where another's dependency is down; never raises for that."""
    report = ReconcileReport()
    for part in (treat_due_jobs, drain_undelivered):
        try:
            part(reconciler, report)
        except DependencyUnavailableError as error:
            report.counts[Healed.FAILED] += 1
            report.errors.append(str(error))
    return report
