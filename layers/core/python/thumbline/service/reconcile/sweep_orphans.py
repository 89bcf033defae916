"""Originals without a row: what a crash, or the loser of a concurrent duplicate, left before acceptance."""

from __future__ import annotations

from thumbline.domain.keys import created_at_of, is_job_id
from thumbline.domain.schema import ORIGINALS_PREFIX
from thumbline.service.reconcile.allowance import Allowance
from thumbline.service.reconcile.reconciler import Healed, Reconciler, ReconcileReport
from thumbline.service.reconcile.treat_each import AT_ONCE, Treated, treat_each

ORPHAN_AGE_SECONDS = 24 * 3600
"""An original precedes its row by seconds; a day leaves no doubt, and bounds what an orphan costs."""
_LISTED = 1000
"""One page of S3's listing."""


def sweep_orphans(reconciler: Reconciler, report: ReconcileReport, allowance: Allowance) -> None:
    """Moves the report's cursor on: keys sort by the time in their id, so what was looked at is never listed
    again. Past an original whose row could not be asked for it does not go; one whose row cannot be read has
    a row.

    Raises DependencyUnavailableError or NothingWorksError.
    """
    while not allowance.is_over:
        listed = reconciler.objects.originals_after(report.orphans_seen_until, _LISTED)
        ripe = _ripe(listed, reconciler.clock.now() - ORPHAN_AGE_SECONDS * 1000)
        for start in range(0, len(ripe), AT_ONCE):
            chunk = ripe[start : start + AT_ONCE]
            treated = treat_each(chunk, lambda key: _look_at(key, reconciler), reconciler, report, allowance)
            if len(treated) < len(chunk) or any(one.healed is Healed.FAILED for one in treated):
                return
            report.orphans_seen_until = chunk[-1]
        if len(ripe) < _LISTED:
            return


def _ripe(keys: list[str], before: int) -> list[str]:
    """Up to the first that is too young. A key that is no job's is ripe: it is passed by."""
    for position, key in enumerate(keys):
        job_id = key.removeprefix(ORIGINALS_PREFIX)
        if is_job_id(job_id) and created_at_of(job_id) > before:
            return keys[:position]
    return keys


def _look_at(key: str, reconciler: Reconciler) -> Treated:
    job_id = key.removeprefix(ORIGINALS_PREFIX)
    if not is_job_id(job_id) or reconciler.jobs.get(job_id) is not None:
        return Treated(Healed.NOTHING)
    reconciler.objects.remove_all(key)
    return Treated(Healed.ORPHAN_REMOVED)
