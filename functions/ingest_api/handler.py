"""An API Gateway request in, a response out.
https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest_api.routes import build_resolver
from thumbline import metrics as names
from thumbline.bootstrap.ingest_api import Ingest, build
from thumbline.settings import IngestSettings

logger = Logger(service="ingest_api")
metrics = Metrics(namespace=names.NAMESPACE, service="ingest_api")


@cache
def _deployed() -> APIGatewayRestResolver:
    return build_resolver(build(IngestSettings.from_env(os.environ)), logger)


def lambda_handler(event: dict[str, Any], context: Any, ingest: Ingest | None = None) -> dict[str, Any]:
    app = _deployed() if ingest is None else build_resolver(ingest, logger)
    answer = app.resolve(event, context)
    headers = answer.get("multiValueHeaders", {})
    if answer["statusCode"] == 202:
        replayed = "Idempotency-Replayed" in headers
        metrics.add_metric(names.JOBS_REPLAYED if replayed else names.JOBS_ACCEPTED, MetricUnit.Count, 1)
        metrics.flush_metrics()
    logger.info(
        "answered",
        method=event.get("httpMethod"),
        path=event.get("path"),
        status=answer["statusCode"],
        job=headers.get("Location", [None])[0] if answer["statusCode"] == 202 else None,
    )
    return answer
