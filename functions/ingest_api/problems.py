"""Errors as clients read them: RFC 9457 problem documents that say what to do.
https://www.rfc-editor.org/rfc/rfc9457"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from functions.ingest_api.problem_types import PREFIX, PROBLEM_TYPES, ProblemType
from thumbline.domain.errors import FailureCode, ThumblineError
from thumbline.domain.job import Failure
from thumbline.domain.quotas import Allowance

MEDIA_TYPE = "application/problem+json"
_UNLISTED = ProblemType(422, "Failed", "", "")


@dataclass(frozen=True, slots=True)
class Problem:
    """`code` is stable and decides; `detail` is the sentence for a person."""

    code: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _type(self) -> ProblemType:
        return PROBLEM_TYPES.get(self.code, _UNLISTED)

    @property
    def status(self) -> int:
        return self._type.status

    def to_document(self) -> dict[str, Any]:
        return {
            "type": f"{PREFIX}{self.code}",
            "title": self._type.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }

    def to_body(self) -> str:
        return json.dumps(self.to_document())


class ProblemError(ThumblineError):
    """Ends a request with this problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def of_failure(failure: Failure) -> Problem:
    """A job's failure, embedded in its status or refused at POST where it is known at once."""
    return Problem(failure.code.value, failure.detail, more={"retryable": failure.retryable})


def bad_key(detail: str) -> Problem:
    return Problem("bad_idempotency_key", detail)


def bad_parameter(name: str, wanted: str) -> Problem:
    return Problem("bad_parameter", f"{name} must be {wanted}", more={"parameter": name})


def malformed_body(detail: str) -> Problem:
    return Problem("malformed_body", detail)


def unknown_presets(unknown: list[str], known: list[str]) -> Problem:
    detail = f"presets names {', '.join(unknown)}; this stage defines {', '.join(known)}"
    return Problem("unknown_preset", detail)


def job_not_found() -> Problem:
    return Problem("job_not_found", "No job of yours has this id; check the Location header")


def preset_not_found(preset: str) -> Problem:
    return Problem(
        "preset_not_found",
        f"The job owes no thumbnail named {preset[:40]!r}; its status lists the ones it does",
    )


def upload_not_found() -> Problem:
    return Problem(
        "upload_not_found",
        "No upload of yours has this id, or its picture has not arrived; send it with the form that"
        " /v1/uploads gave",
    )


def upload_mismatch(detail: str) -> Problem:
    return Problem("upload_mismatch", detail)


def upload_changed(retry_after_seconds: int) -> Problem:
    return Problem(
        "upload_changed",
        "The upload was replaced while it was being committed; repeat the request",
        {"Retry-After": str(retry_after_seconds)},
    )


def cursor_not_found() -> Problem:
    return Problem(
        "cursor_not_found", "The cursor is none that this listing gave you; begin again without a cursor"
    )


def route_not_found() -> Problem:
    return Problem("route_not_found", "Nothing is served at this path; see /v1/openapi.json")


def method_not_allowed(method: str, allowed: list[str]) -> Problem:
    allow = ", ".join(allowed)
    return Problem("method_not_allowed", f"{method} is not allowed here; use {allow}", {"Allow": allow})


def not_ready(job_id: str, status: str, retry_after_seconds: int | None) -> Problem:
    headers = {} if retry_after_seconds is None else {"Retry-After": str(retry_after_seconds)}
    link = f"/v1/jobs/{job_id}"
    return Problem("not_ready", f"The job is {status}; its state is at {link}", headers, {"job": link})


def job_gone() -> Problem:
    return Problem("job_gone", "The job and its thumbnails were deleted")


def body_too_large(byte_length: int, limit_bytes: int) -> Problem:
    detail = (
        f"The picture has {byte_length:,} bytes; at most {limit_bytes:,} can be sent in one request;"
        " send it by way of POST /v1/uploads"
    )
    more = {"limit_bytes": limit_bytes, "uploads": "/v1/uploads"}
    return Problem(FailureCode.TOO_LARGE.value, detail, more=more)


def upload_too_large(byte_length: int, limit_bytes: int) -> Problem:
    detail = f"The picture has {byte_length:,} bytes; at most {limit_bytes:,} are accepted"
    return Problem(FailureCode.TOO_LARGE.value, detail, more={"limit_bytes": limit_bytes})


def no_picture_type(content_type: str) -> Problem:
    detail = (
        f"Content-Type {content_type} is not accepted; send the picture's bytes as image/*, as "
        "application/octet-stream or without a type, or an upload's id as application/json"
    )
    return Problem(FailureCode.UNSUPPORTED_TYPE.value, detail)


def no_json_type(content_type: str) -> Problem:
    detail = f"Content-Type {content_type or '(none)'} is not accepted; send application/json"
    return Problem(FailureCode.UNSUPPORTED_TYPE.value, detail)


def key_reused(detail: str) -> Problem:
    return Problem("idempotency_key_reused", detail)


def too_many_requests(allowance: Allowance) -> Problem:
    detail = (
        f"More than {allowance.quota.requests_per_second} requests a second; "
        f"go on in {allowance.reset_seconds} s"
    )
    return Problem("too_many_requests", detail, {"Retry-After": str(allowance.reset_seconds)})


def too_many_open_jobs(limit: int, retry_after_seconds: int) -> Problem:
    detail = f"{limit:,} of your jobs are open, which is the limit; send the picture when some have finished"
    return Problem("too_many_open_jobs", detail, {"Retry-After": str(retry_after_seconds)})


def unavailable(retry_after_seconds: int) -> Problem:
    detail = "The outcome is unknown; repeat the request with the same Idempotency-Key"
    return Problem("unavailable", detail, {"Retry-After": str(retry_after_seconds)})


def internal(retry_after_seconds: int) -> Problem:
    detail = "Something went wrong on our side; repeating the request with the same Idempotency-Key is safe"
    return Problem("internal", detail, {"Retry-After": str(retry_after_seconds)})
