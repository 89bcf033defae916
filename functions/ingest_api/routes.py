"""The routes: each calls one use case and shapes its answer."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, CORSConfig, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError

from functions.ingest_api import problems, requests, views
from functions.ingest_api.problems import Problem, ProblemError
from thumbline.bootstrap.ingest_api import Ingest
from thumbline.domain.errors import DependencyUnavailableError, PermanentError
from thumbline.domain.job import Failure, Status
from thumbline.service.accept_image import IdempotencyKeyReusedError, accept_image
from thumbline.service.read_job import (
    JobGoneError,
    JobNotFoundError,
    ThumbnailNotReadyError,
    UnknownPresetError,
    find_thumbnail,
    read_job,
)

CORS = CORSConfig(
    allow_headers=["Content-Type", "Idempotency-Key", "If-None-Match"],
    expose_headers=["ETag", "Idempotency-Replayed", "Location", "Retry-After"],
    max_age=600,
)
STAGE_PREFIX = "/v1"
"""Only a custom domain's base path reaches us as part of the path; the stage's own name does not."""

_NO_STORE = {"Cache-Control": "no-store"}
_JSON = "application/json"


def build_resolver(ingest: Ingest, logger: Logger) -> APIGatewayRestResolver:
    app = APIGatewayRestResolver(cors=CORS, strip_prefixes=[STAGE_PREFIX])
    _add_routes(app, ingest)
    _add_problems(app, ingest, logger)
    return app


def _add_routes(app: APIGatewayRestResolver, ingest: Ingest) -> None:
    settings = ingest.settings
    retry_after = str(settings.retry_after_seconds)

    def owner() -> str:
        return requests.owner(app.current_event.raw_event, settings.owner_source)

    @app.post("/images")
    def post_image() -> Response[str]:
        submission = requests.submission(app.current_event.raw_event, settings)
        accepted = accept_image(submission, ingest.acceptance)
        headers = {"Location": views.job_link(accepted.job_id), "Retry-After": retry_after, **_NO_STORE}
        if accepted.replayed:
            headers["Idempotency-Replayed"] = "true"
        body = {"job_id": accepted.job_id, "status": Status.QUEUED.value}
        return Response(202, _JSON, json.dumps(body), headers)

    @app.get("/jobs/<job_id>")
    def get_job(job_id: str) -> Response[str]:
        job = read_job(job_id, owner(), ingest.acceptance.jobs)
        headers = _NO_STORE | ({"Retry-After": retry_after} if job.is_open else {})
        return Response(200, _JSON, json.dumps(views.job_document(job)), headers)

    @app.get("/images/<job_id>/<preset>")
    def get_thumbnail(job_id: str, preset: str) -> Response[str]:
        result = find_thumbnail(job_id, preset, owner(), ingest.acceptance.jobs)
        fresh_seconds = settings.signed_url_seconds // 2
        headers = {"ETag": f'"{result.sha256}"', "Cache-Control": f"private, max-age={fresh_seconds}"}
        if _matches(requests.header(app.current_event.raw_event, "If-None-Match"), result.sha256):
            return Response(304, None, "", headers)
        url = ingest.signer.sign(result.key, result.type, settings.signed_url_seconds)
        return Response(302, None, "", headers | {"Location": url})


def _add_problems(app: APIGatewayRestResolver, ingest: Ingest, logger: Logger) -> None:
    def no_route(_: NotFoundError) -> Response[str]:
        event = app.current_event
        path = event.path.removeprefix(STAGE_PREFIX)
        allowed = [route.method for route in _routes(app) if route.rule.match(path)]
        if allowed:
            return _answer(problems.method_not_allowed(event.http_method, [*allowed, "OPTIONS"]))
        return _answer(problems.route_not_found(path))

    def any_error(error: Exception) -> Response[str]:
        problem = _problem_of(error, ingest.settings.retry_after_seconds)
        if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
            logger.warning("dependency unavailable", reason=str(error))
        elif problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            logger.exception("unexpected error")
        return _answer(problem)

    app.not_found(no_route)
    app.exception_handler(Exception)(any_error)


def _problem_of(error: Exception, retry_after_seconds: int) -> Problem:
    match error:
        case ProblemError():
            return error.problem
        case PermanentError():
            return problems.of_failure(Failure(error.code, error.detail, retryable=False))
        case IdempotencyKeyReusedError():
            return problems.key_reused(str(error))
        case JobNotFoundError():
            return problems.job_not_found()
        case JobGoneError():
            return problems.job_gone()
        case UnknownPresetError():
            return problems.preset_not_found(str(error))
        case ThumbnailNotReadyError():
            wait = retry_after_seconds if error.job.is_open else None
            return problems.not_ready(error.job.job_id, error.job.status.value, wait)
        case DependencyUnavailableError():
            return problems.unavailable(retry_after_seconds)
        case _:
            return problems.internal()


def _routes(app: APIGatewayRestResolver) -> list[Any]:
    return [*app._static_routes, *app._dynamic_routes]


def _answer(problem: Problem) -> Response[str]:
    return Response(problem.status, problems.MEDIA_TYPE, problem.to_body(), {**problem.headers, **_NO_STORE})


def _matches(if_none_match: str | None, sha256: str) -> bool:
    """Weak comparison over a list of entity tags, or any: RFC 9110 section 13.1.2."""
    tags = [tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")]
    return "*" in tags or f'"{sha256}"' in tags
