"""An API Gateway request in, a response out.
https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest_api.answers import Answer
from functions.ingest_api.requests import Request
from functions.ingest_api.respond import respond
from thumbline import metrics as names
from thumbline.bootstrap.ingest_api import Ingest, build
from thumbline.settings import IngestSettings

logger = Logger(service="ingest_api")
metrics = Metrics(namespace=names.NAMESPACE, service="ingest_api")


@cache
def _deployed() -> Ingest:
    settings = IngestSettings.from_env(os.environ)
    metrics.set_default_dimensions(stage=settings.stage)
    return build(settings)


def lambda_handler(event: dict[str, Any], context: Any, ingest: Ingest | None = None) -> dict[str, Any]:
    request = Request(event)
    ingest = _deployed() if ingest is None else ingest
    ingest.time.begin(lambda: context.get_remaining_time_in_millis() / 1000)
    answer = respond(request, ingest, logger)
    accepted = answer.status == 202
    if accepted:
        _count(answer)
    # No path: an unknown one may hold anything that a client wrote into it by mistake.
    logger.info(
        "answered",
        method=request.method,
        resource=event.get("resource"),
        status=answer.status,
        job=answer.headers["Location"] if accepted else None,
    )
    return answer.to_response(with_body=request.method != "HEAD")


def _count(answer: Answer) -> None:
    replayed = "Idempotency-Replayed" in answer.headers
    metrics.add_metric(names.JOBS_REPLAYED if replayed else names.JOBS_ACCEPTED, MetricUnit.Count, 1)
    metrics.flush_metrics()
