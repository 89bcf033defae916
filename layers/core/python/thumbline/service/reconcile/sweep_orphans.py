"""Originals without a row: what a crash, or the loser of a concurrent duplicate, left before acceptance."""

from __future__ import annotations

from thumbline.domain.keys import created_at_of, is_job_id
from thumbline.domain.schema import ORIGINALS_PREFIX
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport

ORPHAN_AGE_SECONDS = 24 * 3600
"""An original precedes its row by seconds; a day leaves no doubt, and bounds what an orphan costs."""


def sweep_orphans(reconciler: Reconciler, report: ReconcileReport, seen_until: str) -> str:
    """The new cursor. Keys sort by the time in their id, so what was looked at is never listed again.

    Raises DependencyUnavailableError; then the old cursor still holds.
    """
    ripe_before = reconciler.clock.now() - ORPHAN_AGE_SECONDS * 1000
    for key in reconciler.objects.originals_after(seen_until, reconciler.max_jobs_per_run):
        job_id = key.removeprefix(ORIGINALS_PREFIX)
        if not is_job_id(job_id):
            continue
        if created_at_of(job_id) > ripe_before:
            break
        if reconciler.jobs.get(job_id) is None:
            reconciler.objects.remove_all(key)
            report.counts[Healed.ORPHAN_REMOVED] += 1
        seen_until = key
    return seen_until
