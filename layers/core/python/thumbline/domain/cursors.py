"""Cursors: where a listing goes on. Opaque to clients, bound to one owner and one filter, tamper-proof.

A cursor only ever selects a place within its owner's own jobs, so forging one could show nothing foreign; the
seal makes a changed or borrowed cursor fail loudly instead of listing from a place that nobody asked for.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from thumbline.domain.errors import ThumblineError
from thumbline.domain.job import Status
from thumbline.domain.keys import is_job_id

_SEAL_BYTES = 16
_MAX_CHARACTERS = 200


class CursorError(ThumblineError):
    """The cursor is not one that this owner was given for this listing."""


def seal(job_id: str, *, owner: str, status: Status | None, secret: bytes) -> str:
    """A cursor after this job."""
    return _text(_mark(job_id, owner, status, secret) + job_id.encode())


def unseal(cursor: str, *, owner: str, status: Status | None, secret: bytes) -> str:
    """The job id to go on after. Raises CursorError."""
    job_id, mark = _opened(cursor)
    if not hmac.compare_digest(mark, _mark(job_id, owner, status, secret)):
        raise CursorError("the seal does not match")
    return job_id


def _opened(cursor: str) -> tuple[str, bytes]:
    if len(cursor) > _MAX_CHARACTERS:
        raise CursorError("too long")
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        job_id = data[_SEAL_BYTES:].decode("ascii")
    except (binascii.Error, ValueError) as error:
        raise CursorError("malformed") from error
    # Base 64 has several spellings of the same bytes, and only one of them was given out.
    if not is_job_id(job_id) or _text(data) != cursor:
        raise CursorError("malformed")
    return job_id, data[:_SEAL_BYTES]


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _mark(job_id: str, owner: str, status: Status | None, secret: bytes) -> bytes:
    # NUL appears in none of the parts, so no two triples have the same text.
    text = "\0".join([owner, "" if status is None else status.value, job_id])
    return hmac.digest(secret, text.encode(), hashlib.sha256)[:_SEAL_BYTES]
