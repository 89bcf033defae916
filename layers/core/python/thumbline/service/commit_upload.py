"""Commit an upload: what has arrived is checked, copied as the original, and accepted like any picture."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from thumbline.domain.errors import FailureCode, PermanentError, ThumblineError
from thumbline.domain.job import Original
from thumbline.domain.presets import Preset
from thumbline.domain.uploads import UploadedObject, is_upload_id, upload_key
from thumbline.ports.uploads import UploadStore
from thumbline.service.accept_job import Acceptance, Accepted, JobRequest, accept_job


class UploadNotFoundError(ThumblineError):
    """No such upload, another owner's, or its picture has not arrived: the three look the same."""


class UploadMismatchError(ThumblineError):
    """What arrived is not what was announced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadSubmission:
    """One POST of an upload's id, parsed."""

    owner: str
    idempotency_key: str
    upload_id: str
    presets: tuple[Preset, ...]
    deadline_seconds: int | None


def commit_upload(
    submission: UploadSubmission, acceptance: Acceptance, uploads: UploadStore, limit_bytes: int
) -> Accepted:
    """A replay does not look at the upload, which may be gone by then.

    Raises UploadNotFoundError, UploadMismatchError, PermanentError where the content is no picture or too
    large, UploadChangedError where it was replaced between check and copy, and what accept_job raises.
    """
    if not is_upload_id(submission.upload_id):
        raise UploadNotFoundError(submission.upload_id)
    key = upload_key(submission.owner, submission.upload_id)

    def place(object_key: str) -> Original:
        arrived = uploads.find_upload(key)
        if arrived is None:
            raise UploadNotFoundError(submission.upload_id)
        _check(arrived, limit_bytes)
        acceptance.screen(arrived.signature)
        uploads.copy_upload(key, arrived.version, object_key)
        return Original(
            content_type=arrived.content_type, byte_length=arrived.byte_length, sha256=arrived.sha256
        )

    request = JobRequest(
        owner=submission.owner,
        idempotency_key=submission.idempotency_key,
        payload_sha256=hashlib.sha256(f"upload:{submission.upload_id}".encode()).hexdigest(),
        content_type="",
        presets=submission.presets,
        deadline_seconds=submission.deadline_seconds,
    )
    return accept_job(request, acceptance, place)


def _check(arrived: UploadedObject, limit_bytes: int) -> None:
    if arrived.byte_length > limit_bytes:
        detail = f"The upload has {arrived.byte_length:,} bytes; at most {limit_bytes:,} are accepted"
        raise PermanentError(FailureCode.TOO_LARGE, detail)
    if arrived.sha256 != arrived.announced_sha256:
        raise UploadMismatchError("The upload's SHA-256 is not the announced one; begin another upload")
