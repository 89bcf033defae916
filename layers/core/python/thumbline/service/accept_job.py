"""Accept a job, however its picture came: after this returns, the work is owed, whatever crashes next.

Order: look the key up, admit, store the original, then the one transaction that is the durable acceptance
boundary. The publish follows from the row through the stream; nothing here talks to a queue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thumbline.domain.errors import ThumblineError
from thumbline.domain.idempotency import IdempotencyRecord, fingerprint, record_id
from thumbline.domain.job import Original, accepted_job
from thumbline.domain.keys import original_key
from thumbline.domain.presets import Preset
from thumbline.domain.signatures import recognise
from thumbline.ports.clock import Clock, Ids
from thumbline.ports.jobs import AcceptanceStore, JobReader
from thumbline.ports.objects import OriginalWriter
from thumbline.service.read_job import JobGoneError

_METHOD = "POST"
_ROUTE = "/images"

Admit = Callable[[str], None]
"""Called with the owner before a new job is made; raises what refuses it."""
Screen = Callable[[bytes], object]
"""Called with a picture's first bytes, or all of them; raises PermanentError for a fault known at once."""
Place = Callable[[str], Original]
"""Puts the picture under an original's key and describes it."""


class IdempotencyKeyReusedError(ThumblineError):
    """The key stands for another payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What a client asks for. `payload_sha256` stands for the body; `deadline_seconds` may be the stage's."""

    owner: str
    idempotency_key: str
    payload_sha256: str
    content_type: str
    presets: tuple[Preset, ...]
    deadline_seconds: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptancePolicy:
    deadline_seconds: int
    queued_patience_seconds: int
    idempotency_seconds: int


def admit_everybody(_owner: str) -> None:
    """No limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What acceptance needs from the outside."""

    jobs: JobReader
    store: AcceptanceStore
    objects: OriginalWriter
    clock: Clock
    ids: Ids
    policy: AcceptancePolicy
    screen: Screen = recognise
    admit: Admit = admit_everybody


@dataclass(frozen=True, slots=True)
class Accepted:
    job_id: str
    replayed: bool


def accept_job(request: JobRequest, acceptance: Acceptance, place: Place) -> Accepted:
    """The new job, or the one that this key made before: then nothing is admitted, placed or stored.

    Raises IdempotencyKeyReusedError, JobGoneError where the key's job was deleted, what `admit` and `place`
    raise, and DependencyUnavailableError where the outcome is unknown: the same key then returns the job.
    """
    now = acceptance.clock.now()
    key = record_id(request.owner, request.idempotency_key)
    print_of_request = fingerprint(
        method=_METHOD,
        route=_ROUTE,
        body_sha256=request.payload_sha256,
        content_type=request.content_type,
        presets=[preset.name for preset in request.presets],
        deadline_seconds=request.deadline_seconds,
    )
    known = acceptance.store.find_record(key)
    if known is not None and known.is_live(now):
        return _replay(known, print_of_request, acceptance)

    acceptance.admit(request.owner)
    job_id = acceptance.ids.job_id(now)
    write_id = acceptance.ids.write_id()
    job = accepted_job(
        job_id=job_id,
        write_id=write_id,
        owner=request.owner,
        original=place(original_key(job_id)),
        presets=request.presets,
        now=now,
        deadline_seconds=request.deadline_seconds or acceptance.policy.deadline_seconds,
        queued_patience_seconds=acceptance.policy.queued_patience_seconds,
    )
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
            "This Idempotency-Key was used for another picture, type, presets or deadline; send a fresh key"
        )
    job = acceptance.jobs.get(record.job_id)
    if job is None or job.is_deleted:
        raise JobGoneError(record.job_id)
    return Accepted(record.job_id, replayed=True)
