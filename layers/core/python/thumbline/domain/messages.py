"""What travels through the queues: pointers to jobs, never pixels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thumbline.domain.errors import FailureCode, ThumblineError
from thumbline.domain.job import Job
from thumbline.domain.json_text import parse_json
from thumbline.domain.keys import is_job_id, original_key

SCHEMA_VERSION = 1
_MAX_QUOTED = 40
_MAX_COPIED_CHARACTERS = 50_000
"""A copy and its attributes together must stay within SQS's message size whatever the body was."""


class BadMessageError(ThumblineError):
    """A body that this version cannot understand. `job_id` is set where one could be read."""

    def __init__(self, reason: str, job_id: str | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.job_id = job_id


@dataclass(frozen=True, slots=True)
class ImageProcessingRequested:
    """The only message: this job is owed work."""

    job_id: str
    object_key: str
    schema_version: int = SCHEMA_VERSION

    def to_body(self) -> str:
        return json.dumps(
            {"schema_version": self.schema_version, "job_id": self.job_id, "object_key": self.object_key}
        )

    @classmethod
    def for_job(cls, job: Job) -> ImageProcessingRequested:
        return cls(job_id=job.job_id, object_key=job.object_key)


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message to send. Attributes become SQS message attributes; the delay is 0 to 900 seconds."""

    body: str
    attributes: Mapping[str, str | int] = field(default_factory=dict)
    delay_seconds: int = 0


def parse_request(body: str) -> ImageProcessingRequested:
    """Raises BadMessageError with a sentence that says what is wrong with the body."""
    try:
        document = parse_json(body)
    except ValueError:
        raise BadMessageError("The message body is not JSON", None) from None
    if not isinstance(document, dict):
        raise BadMessageError("The message body is not a JSON object", None)
    job_id = _readable_job_id(document)
    version = document.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise BadMessageError(
            f"schema_version is {_quoted(version)}; this worker knows {SCHEMA_VERSION}", job_id
        )
    if job_id is None:
        raise BadMessageError(f"job_id {_quoted(document.get('job_id'))} is not a job's id", None)
    object_key = document.get("object_key")
    if object_key != original_key(job_id):
        raise BadMessageError(f"object_key {_quoted(object_key)} is not the job's own", job_id)
    return ImageProcessingRequested(job_id=job_id, object_key=original_key(job_id))


def rejected_copy(body: str, error: BadMessageError, now: int) -> OutgoingMessage:
    """A message that nobody can process, as a person finds it in the dead-letter queue."""
    return OutgoingMessage(
        body=body[:_MAX_COPIED_CHARACTERS] or "(empty)",
        attributes={
            "code": FailureCode.BAD_MESSAGE.value,
            "reason": error.reason,
            "first_seen": now,
            **({} if error.job_id is None else {"job_id": error.job_id}),
        },
    )


def exhausted_copy(job: Job) -> OutgoingMessage:
    """An exhausted job, annotated for the person who will look at it. Times are epoch milliseconds."""
    failure = job.failure
    return OutgoingMessage(
        body=ImageProcessingRequested.for_job(job).to_body(),
        attributes={
            "job_id": job.job_id,
            "generation": job.generation,
            "code": FailureCode.ATTEMPTS_EXHAUSTED.value,
            "attempts": job.attempts,
            "last_error": "none recorded"
            if failure is None or failure.cause is None
            else failure.cause.value,
            "reason": "none recorded" if failure is None else failure.detail,
            "first_seen": job.created_at,
        },
    )


def _readable_job_id(document: Mapping[str, Any]) -> str | None:
    job_id = document.get("job_id")
    return job_id if isinstance(job_id, str) and is_job_id(job_id) else None


def _quoted(value: Any) -> str:
    """A hostile value, cut to a length that a log line and a message attribute can hold."""
    text = repr(value)
    return text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…"
