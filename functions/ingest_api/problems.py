"""Errors as clients read them: RFC 9457 problem documents that say what to do.
https://www.rfc-editor.org/rfc/rfc9457"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from thumbline.domain.errors import FailureCode, ThumblineError
from thumbline.domain.job import Failure

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "/v1/problems/"


@dataclass(frozen=True, slots=True)
class Problem:
    """`code` is stable and decides; `detail` is the sentence for a person."""

    status: int
    code: str
    title: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        return {
            "type": f"{TYPE_PREFIX}{self.code}",
            "title": self.title,
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


_STATUS_OF_FAILURE = {
    FailureCode.ATTEMPTS_EXHAUSTED: HTTPStatus.INTERNAL_SERVER_ERROR,
    FailureCode.BAD_MESSAGE: HTTPStatus.INTERNAL_SERVER_ERROR,
    FailureCode.ORIGINAL_MISSING: HTTPStatus.INTERNAL_SERVER_ERROR,
    FailureCode.EXPIRED: HTTPStatus.GATEWAY_TIMEOUT,
    FailureCode.DELETED: HTTPStatus.GONE,
    FailureCode.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    FailureCode.UNSUPPORTED_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}

_TITLE_OF_FAILURE = {
    FailureCode.NOT_AN_IMAGE: "Not an image",
    FailureCode.UNSUPPORTED_TYPE: "Unsupported type of image",
    FailureCode.TOO_MANY_PIXELS: "Too many pixels",
    FailureCode.TOO_MANY_FRAMES: "Too many frames",
    FailureCode.TOO_COMPLEX: "Too costly to decode",
    FailureCode.TOO_LARGE: "Too large",
    FailureCode.TRUNCATED: "Truncated image",
    FailureCode.CORRUPT: "Corrupt image",
    FailureCode.EMPTY: "Empty picture",
    FailureCode.ORIGINAL_MISSING: "Original missing",
    FailureCode.BAD_MESSAGE: "Internal message rejected",
    FailureCode.ATTEMPTS_EXHAUSTED: "Attempts exhausted",
    FailureCode.EXPIRED: "Deadline passed",
    FailureCode.DELETED: "Deleted",
}


def of_failure(failure: Failure) -> Problem:
    """A job's failure, embedded in its status or refused at POST where it is known at once."""
    return Problem(
        status=_STATUS_OF_FAILURE.get(failure.code, HTTPStatus.UNPROCESSABLE_ENTITY),
        code=failure.code.value,
        title=_TITLE_OF_FAILURE.get(failure.code, "Failed"),
        detail=failure.detail,
        more={"retryable": failure.retryable},
    )


def bad_key(detail: str) -> Problem:
    return Problem(400, "bad_idempotency_key", "Missing or malformed Idempotency-Key", detail)


def unknown_presets(unknown: list[str], known: list[str]) -> Problem:
    detail = f"presets names {', '.join(unknown)}; this stage defines {', '.join(known)}"
    return Problem(400, "unknown_preset", "Unknown preset", detail)


def job_not_found() -> Problem:
    return Problem(
        404, "job_not_found", "No such job", "No job of yours has this id; check the Location header"
    )


def preset_not_found(preset: str) -> Problem:
    detail = f"The job owes no thumbnail named {preset}; its status lists the ones it does"
    return Problem(404, "preset_not_found", "No such thumbnail", detail)


def route_not_found(path: str) -> Problem:
    return Problem(404, "route_not_found", "No such resource", f"Nothing is served at {path}")


def method_not_allowed(method: str, allowed: list[str]) -> Problem:
    allow = ", ".join(allowed)
    detail = f"{method} is not allowed here; use {allow}"
    return Problem(405, "method_not_allowed", "Method not allowed", detail, {"Allow": allow})


def not_ready(job_id: str, status: str, retry_after_seconds: int | None) -> Problem:
    headers = {} if retry_after_seconds is None else {"Retry-After": str(retry_after_seconds)}
    link = f"/v1/jobs/{job_id}"
    detail = f"The job is {status}; its state is at {link}"
    return Problem(409, "not_ready", "No thumbnail yet", detail, headers, {"job": link})


def job_gone() -> Problem:
    return Problem(410, "job_gone", "Deleted", "The job and its thumbnails were deleted")


def body_too_large(byte_length: int, limit_bytes: int) -> Problem:
    detail = f"The picture has {byte_length:,} bytes; at most {limit_bytes:,} can be sent in one request"
    return Problem(413, FailureCode.TOO_LARGE.value, "Too large", detail, more={"limit_bytes": limit_bytes})


def unsupported_media_type(content_type: str) -> Problem:
    detail = (
        f"Content-Type {content_type} is not accepted; send the picture's bytes as image/*, as "
        "application/octet-stream or without a type"
    )
    return Problem(415, FailureCode.UNSUPPORTED_TYPE.value, "Unsupported media type", detail)


def key_reused(detail: str) -> Problem:
    return Problem(422, "idempotency_key_reused", "Idempotency-Key reused", detail)


def unavailable(retry_after_seconds: int) -> Problem:
    detail = "The outcome is unknown; repeat the request with the same Idempotency-Key"
    headers = {"Retry-After": str(retry_after_seconds)}
    return Problem(503, "unavailable", "Temporarily unavailable", detail, headers)


def internal() -> Problem:
    detail = "Something went wrong on our side; repeating the request with the same Idempotency-Key is safe"
    return Problem(500, "internal", "Internal error", detail)
