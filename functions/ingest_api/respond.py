"""From a request to its answer: quota, route, view; and every error as its problem."""

from __future__ import annotations

from aws_lambda_powertools import Logger

from functions.ingest_api import problems
from functions.ingest_api.answers import Answer, of_problem, preflight
from functions.ingest_api.problems import Problem, ProblemError
from functions.ingest_api.requests import Request
from functions.ingest_api.routes import ROUTER
from thumbline.bootstrap.ingest_api import Ingest
from thumbline.domain.errors import DependencyUnavailableError, PermanentError
from thumbline.domain.job import Failure
from thumbline.domain.quotas import Quota
from thumbline.ports.uploads import UploadChangedError
from thumbline.service.accept_job import IdempotencyKeyReusedError
from thumbline.service.admit_job import TooManyOpenJobsError
from thumbline.service.admit_request import admit_request
from thumbline.service.commit_upload import UploadMismatchError, UploadNotFoundError
from thumbline.service.read_job import (
    JobGoneError,
    JobNotFoundError,
    ThumbnailNotReadyError,
    UnknownPresetError,
)


def respond(request: Request, ingest: Ingest, logger: Logger) -> Answer:
    """Never raises: what is no error of the client's is logged and answered as 500 or 503."""
    quota_fields: dict[str, str] = {}
    try:
        answer = _routed(request, ingest, quota_fields)
    except Exception as error:
        problem = problem_of(error, ingest.settings.retry_after_seconds)
        if problem.code == "unavailable":
            logger.warning("dependency unavailable", reason=str(error))
        elif problem.code == "internal":
            logger.exception("unexpected error")
        answer = of_problem(problem)
    return answer.with_headers(quota_fields)


def _routed(request: Request, ingest: Ingest, quota_fields: dict[str, str]) -> Answer:
    """Fills in the fields that tell a metered caller its quota, whatever becomes of the request."""
    if request.method == "OPTIONS":
        return preflight(ROUTER.allowed(request))
    route, request = ROUTER.find(request)
    if route.metered:
        _meter(request, ingest, quota_fields)
    return route.view(request, ingest)


def _meter(request: Request, ingest: Ingest, quota_fields: dict[str, str]) -> None:
    owner = request.owner(ingest.settings.owner_source)
    quota = Quota(ingest.settings.requests_per_second)
    allowance = admit_request(owner, quota, ingest.access, ingest.acceptance.clock)
    quota_fields["RateLimit"] = allowance.field()
    quota_fields["RateLimit-Policy"] = quota.policy_field()
    if allowance.refused:
        raise ProblemError(problems.too_many_requests(allowance))


def problem_of(error: Exception, retry_after_seconds: int) -> Problem:
    match error:
        case ProblemError():
            return error.problem
        case PermanentError():
            return problems.of_failure(Failure(error.code, error.detail, retryable=False))
        case DependencyUnavailableError():
            return problems.unavailable(retry_after_seconds)
        case TooManyOpenJobsError():
            return problems.too_many_open_jobs(error.limit, retry_after_seconds)
        case IdempotencyKeyReusedError():
            return problems.key_reused(str(error))
    return (
        _problem_of_a_job(error, retry_after_seconds)
        or _problem_of_an_upload(error, retry_after_seconds)
        or problems.internal(retry_after_seconds)
    )


def _problem_of_a_job(error: Exception, retry_after_seconds: int) -> Problem | None:
    match error:
        case JobNotFoundError():
            return problems.job_not_found()
        case JobGoneError():
            return problems.job_gone()
        case UnknownPresetError():
            return problems.preset_not_found(str(error))
        case ThumbnailNotReadyError():
            wait = retry_after_seconds if error.job.is_open else None
            return problems.not_ready(error.job.job_id, error.job.status.value, wait)
    return None


def _problem_of_an_upload(error: Exception, retry_after_seconds: int) -> Problem | None:
    match error:
        case UploadNotFoundError():
            return problems.upload_not_found()
        case UploadMismatchError():
            return problems.upload_mismatch(str(error))
        case UploadChangedError():
            return problems.upload_changed(retry_after_seconds)
    return None
