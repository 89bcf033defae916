"""A batch of the work queue in, the unacknowledged messages out.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from thumbline import metrics as names
from thumbline.bootstrap.thumbnail_worker import build
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.process_batch import BatchReport, process_batch
from thumbline.service.worker import Outcome, Worker
from thumbline.settings import WorkerSettings

logger = Logger(service="thumbnail_worker")
metrics = Metrics(namespace=names.NAMESPACE, service="thumbnail_worker")

_METRICS = {
    names.JOBS_SUCCEEDED: (Outcome.SUCCEEDED,),
    names.JOBS_FAILED: (Outcome.FAILED,),
    names.JOBS_EXHAUSTED: (Outcome.EXHAUSTED,),
    names.JOBS_EXPIRED: (Outcome.EXPIRED,),
    names.JOBS_RELEASED: (Outcome.RELEASED,),
    names.DELIVERIES_SKIPPED: (Outcome.SKIPPED,),
    names.DELIVERIES_BOUNCED: (Outcome.BOUNCED, Outcome.UNREADABLE, Outcome.UNSTARTED),
    names.LEASES_LOST: (Outcome.LOST,),
    names.WRITES_FENCED: (Outcome.FENCED,),
    names.BAD_MESSAGES: (Outcome.REJECTED,),
    names.DELIVERIES_BROKEN: (Outcome.BROKEN,),
}


@cache
def _worker() -> Worker:
    settings = WorkerSettings.from_env(os.environ)
    metrics.set_default_dimensions(stage=settings.stage)
    return build(settings)


def lambda_handler(event: dict[str, Any], context: Any, worker: Worker | None = None) -> dict[str, Any]:
    report = process_batch(
        [_delivery(raw) for raw in event["Records"]],
        worker or _worker(),
        lambda: context.get_remaining_time_in_millis() / 1000,
    )
    _tell(report)
    return {"batchItemFailures": [{"itemIdentifier": message} for message in report.unacknowledged]}


def _delivery(raw: dict[str, Any]) -> ReceivedMessage:
    return ReceivedMessage(
        message_id=raw["messageId"],
        receipt_handle=raw["receiptHandle"],
        body=raw["body"],
        receive_count=int(raw["attributes"]["ApproximateReceiveCount"]),
    )


def _tell(report: BatchReport) -> None:
    counts = report.counts
    for name, outcomes in _METRICS.items():
        metrics.add_metric(name, MetricUnit.Count, sum(counts[outcome] for outcome in outcomes))
    metrics.flush_metrics()
    log = logger.error if counts[Outcome.BROKEN] else logger.info
    log(
        "batch processed",
        deliveries=[
            {
                "message_id": line.message_id,
                "job_id": line.job_id,
                "outcome": line.outcome,
                "note": line.note,
            }
            for line in report.processed
        ],
    )
