"""A batch of the jobs table's stream in, the failed sequence numbers out.
https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from thumbline import metrics as names
from thumbline.adapters.aws.items import from_item
from thumbline.bootstrap.outbox_relay import Relay, build
from thumbline.domain.row import Row
from thumbline.service.relay_outbox import OutboxRecord, relay_outbox
from thumbline.settings import RelaySettings

logger = Logger(service="outbox_relay")
metrics = Metrics(namespace=names.NAMESPACE, service="outbox_relay")


@cache
def _relay() -> Relay:
    settings = RelaySettings.from_env(os.environ)
    metrics.set_default_dimensions(stage=settings.stage)
    return build(settings)


def lambda_handler(event: dict[str, Any], _context: Any, relay: Relay | None = None) -> dict[str, Any]:
    relay = relay or _relay()
    report = relay_outbox(
        [_record(raw) for raw in event["Records"]],
        work_queue=relay.work_queue,
        dead_letters=relay.dead_letters,
        clock=relay.clock,
    )
    metrics.add_metric(names.MESSAGES_PUBLISHED, MetricUnit.Count, report.published)
    metrics.add_metric(names.DEAD_LETTERS_WRITTEN, MetricUnit.Count, report.copied)
    metrics.add_metric(names.RELAY_FAILURES, MetricUnit.Count, len(report.failed))
    metrics.flush_metrics()
    log = logger.error if report.failed else logger.info
    log(
        "relayed",
        published=report.published,
        copied=report.copied,
        ignored=report.ignored,
        errors=report.errors,
    )
    return {"batchItemFailures": [{"itemIdentifier": number} for number in report.failed]}


def _record(raw: dict[str, Any]) -> OutboxRecord:
    change = raw["dynamodb"]

    def read_images() -> tuple[Row | None, Row | None]:
        return _image(change, "OldImage"), _image(change, "NewImage")

    return OutboxRecord(change["SequenceNumber"], read_images)


def _image(change: dict[str, Any], name: str) -> Row | None:
    return from_item(change[name]) if name in change else None
