"""Accept a picture: after this returns, the work is owed, whatever crashes next.

Order: look the key up, store the original, then the one transaction that is the durable acceptance boundary.
The publish follows from the row through the stream; nothing here talks to a queue.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from thumbline.domain.errors import FailureCode, PermanentError, ThumblineError
from thumbline.domain.idempotency import IdempotencyRecord, fingerprint, record_id
from thumbline.domain.job import Original, accepted_job
from thumbline.domain.presets import Preset
from thumbline.ports.clock import Clock, Ids
from thumbline.ports.jobs import AcceptanceStore, JobReader
from thumbline.ports.objects import OriginalWriter
from thumbline.service.read_job import JobGoneError

_METHOD = "POST"
_ROUTE = "/images"


class IdempotencyKeyReusedError(ThumblineError):
    """The key stands for another payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One POST, parsed. `idempotency_key` without quotes; `content_type` as declared, '' when absent."""

    owner: str
    idempotency_key: str
    content_type: str
    body: bytes
    presets: tuple[Preset, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptancePolicy:
    deadline_seconds: int
    queued_patience_seconds: int
    idempotency_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What acceptance needs from the outside."""

    jobs: JobReader
    store: AcceptanceStore
    objects: OriginalWriter
    clock: Clock
    ids: Ids
    policy: AcceptancePolicy


@dataclass(frozen=True, slots=True)
class Accepted:
    job_id: str
    replayed: bool


def accept_image(submission: Submission, acceptance: Acceptance) -> Accepted:
    """The new job, or the one that this key made before.

    Raises PermanentError for an empty body, IdempotencyKeyReusedError, JobGoneError where the key's job was
    deleted, and DependencyUnavailableError where the outcome is unknown: the same key then returns the job.
    """
    if not submission.body:
        raise PermanentError(FailureCode.EMPTY, "The request body is empty; send the picture's bytes")
    now = acceptance.clock.now()
    sha256 = hashlib.sha256(submission.body).hexdigest()
    key = record_id(submission.owner, submission.idempotency_key)
    print_of_request = fingerprint(
        method=_METHOD,
        route=_ROUTE,
        body_sha256=sha256,
        content_type=submission.content_type,
        presets=[preset.name for preset in submission.presets],
    )
    known = acceptance.store.find_record(key)
    if known is not None and known.is_live(now):
        return _replay(known, print_of_request, acceptance)

    job = accepted_job(
        job_id=acceptance.ids.job_id(now),
        write_id=acceptance.ids.write_id(),
        owner=submission.owner,
        original=Original(
            content_type=submission.content_type, byte_length=len(submission.body), sha256=sha256
        ),
        presets=submission.presets,
        now=now,
        deadline_seconds=acceptance.policy.deadline_seconds,
        queued_patience_seconds=acceptance.policy.queued_patience_seconds,
    )
    acceptance.objects.put_original(job.object_key, submission.body, sha256)
    record = IdempotencyRecord(
        record_id=key,
        fingerprint=print_of_request,
        job_id=job.job_id,
        expires_at=now // 1000 + acceptance.policy.idempotency_seconds,
    )
    holder = acceptance.store.accept(job, record)
    if holder is not None:
        return _replay(holder, print_of_request, acceptance)
    return Accepted(job.job_id, replayed=False)


def _replay(record: IdempotencyRecord, print_of_request: str, acceptance: Acceptance) -> Accepted:
    if record.fingerprint != print_of_request:
        raise IdempotencyKeyReusedError(
            "This Idempotency-Key was used for another picture, type or presets; send a fresh key"
        )
    job = acceptance.jobs.get(record.job_id)
    if job is None or job.is_deleted:
        raise JobGoneError(record.job_id)
    return Accepted(record.job_id, replayed=True)
