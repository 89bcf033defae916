"""One pass each time the schedule fires; the counts out."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from thumbline import metrics as names
from thumbline.bootstrap.job_reconciler import build
from thumbline.service.reconcile.reconciler import Healed, Reconciler
from thumbline.service.reconcile.run_pass import run_pass
from thumbline.settings import ReconcilerSettings

logger = Logger(service="job_reconciler")
metrics = Metrics(namespace=names.NAMESPACE, service="job_reconciler")

_METRICS = {
    names.JOBS_REPUBLISHED: (Healed.REPUBLISHED,),
    names.JOBS_RESCUED: (Healed.RESCUED,),
    names.JOBS_REQUEUED: (Healed.REQUEUED,),
    names.JOBS_EXPIRED: (Healed.EXPIRED,),
    names.JOBS_EXHAUSTED: (Healed.EXHAUSTED,),
    names.PUBLISHES_OWED_AGAIN: (Healed.OWED_AGAIN,),
    names.PUBLISHES_UNCONFIRMED: (Healed.UNPUBLISHED,),
    names.ORPHANS_REMOVED: (Healed.ORPHAN_REMOVED,),
    names.RECONCILER_FAILURES: (Healed.FAILED, Healed.BROKEN),
}


@cache
def _reconciler() -> Reconciler:
    settings = ReconcilerSettings.from_env(os.environ)
    metrics.set_default_dimensions(stage=settings.stage)
    return build(settings)


def lambda_handler(
    _event: dict[str, Any], context: Any, reconciler: Reconciler | None = None
) -> dict[str, int]:
    reconciler = reconciler or _reconciler()
    report = run_pass(reconciler, lambda: context.get_remaining_time_in_millis() / 1000)
    now = reconciler.clock.now()
    counts = {healed.value: count for healed, count in report.counts.items()}
    for name, healed in _METRICS.items():
        metrics.add_metric(name, MetricUnit.Count, sum(report.counts[one] for one in healed))
    metrics.add_metric(names.OLDEST_OPEN_JOB_AGE, MetricUnit.Seconds, report.oldest_open_seconds(now))
    metrics.add_metric(names.OLDEST_QUEUED_JOB_AGE, MetricUnit.Seconds, report.oldest_queued_seconds(now))
    metrics.flush_metrics()
    log = logger.error if report.errors else logger.info
    log("reconciled", counts=counts, errors=report.errors)
    return counts
