"""Accept a picture that came in a request's body."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from thumbline.domain.job import Original
from thumbline.domain.presets import Preset
from thumbline.service.accept_job import (
    Acceptance,
    AcceptancePolicy,
    Accepted,
    IdempotencyKeyReusedError,
    JobRequest,
    accept_job,
)

__all__ = [
    "Acceptance",
    "AcceptancePolicy",
    "Accepted",
    "IdempotencyKeyReusedError",
    "Submission",
    "accept_image",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One POST, parsed. `idempotency_key` without quotes; `content_type` as declared, '' when absent."""

    owner: str
    idempotency_key: str
    content_type: str
    body: bytes
    presets: tuple[Preset, ...]
    deadline_seconds: int | None = None


def accept_image(submission: Submission, acceptance: Acceptance) -> Accepted:
    """Raises PermanentError for a fault of the picture that is known at once, and what accept_job raises."""
    acceptance.screen(submission.body)
    sha256 = hashlib.sha256(submission.body).hexdigest()

    def place(object_key: str) -> Original:
        acceptance.objects.put_original(object_key, submission.body, sha256)
        return Original(content_type=submission.content_type, byte_length=len(submission.body), sha256=sha256)

    request = JobRequest(
        owner=submission.owner,
        idempotency_key=submission.idempotency_key,
        payload_sha256=sha256,
        content_type=submission.content_type,
        presets=submission.presets,
        deadline_seconds=submission.deadline_seconds,
    )
    return accept_job(request, acceptance, place)
