"""The idempotency key of a POST, after the IETF draft "The Idempotency-Key HTTP Header Field".
https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from thumbline.domain.errors import ThumblineError

MAX_KEY_CHARACTERS = 255
BARE_KEY = rf"[!#-\[\]-~]{{1,{MAX_KEY_CHARACTERS}}}"
QUOTED_KEY = rf'"([ !#-\[\]-~]|\\["\\]){{1,{MAX_KEY_CHARACTERS}}}"'
"""Both spellings of a key, as regular expressions that JSON Schema understands, too."""

_BARE = re.compile(BARE_KEY)
_QUOTED = re.compile(QUOTED_KEY)


class IdempotencyKeyError(ThumblineError):
    """The header is missing or malformed; the message says which, for the client."""


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """What a key stands for. `expires_at` is in epoch seconds, as TTL wants it."""

    record_id: str
    fingerprint: str
    job_id: str
    expires_at: int

    def is_live(self, now: int) -> bool:
        """TTL deletes late, so an expired record may still be read; it no longer counts."""
        return self.expires_at * 1000 > now


def parse_key(header: str | None) -> str:
    """The key itself, from a bare token or an RFC 8941 string: both spellings are one key.

    Raises IdempotencyKeyError.
    """
    if header is None or not header.strip():
        raise IdempotencyKeyError("Send an Idempotency-Key header, a fresh UUID for each new picture")
    text = header.strip()
    if _QUOTED.fullmatch(text):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if _BARE.fullmatch(text):
        return text
    raise IdempotencyKeyError(
        f"The Idempotency-Key must be one bare token or one quoted string of 1 to {MAX_KEY_CHARACTERS}"
        " printable ASCII characters"
    )


def record_id(owner: str, key: str) -> str:
    """Scoped to the owner; the key itself is a client's secret and is kept as a hash only."""
    return f"{owner}#{hashlib.sha256(key.encode()).hexdigest()}"


def fingerprint(
    *,
    method: str,
    route: str,
    body_sha256: str,
    content_type: str,
    presets: Sequence[str],
    deadline_seconds: int | None = None,
) -> str:
    """What a retry must repeat to be the same request. The order of presets does not matter."""
    parts = [method, route, body_sha256, content_type, sorted(presets), deadline_seconds]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
