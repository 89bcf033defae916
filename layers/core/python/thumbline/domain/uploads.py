"""Uploads: what is too large for a request body goes straight to the bucket, to one exact key.

No table holds them. The key begins with a hash of the owner, so an upload id finds nothing under another
owner; the signed form fixes size, type and checksum, so what arrives is what was announced or nothing.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

UPLOADS_PREFIX = "uploads/"
UPLOAD_ID_PREFIX = "upl_"
FORM_SECONDS = 900
"""How long a form may be used; a client that needs longer asks for another."""
SIGNATURE_BYTES = 1024
"""How much of a picture its kind is told from."""
_PATTERN = re.compile(rf"{UPLOAD_ID_PREFIX}[0-9a-f]{{32}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What a client says that it will send. Bytes; `sha256` in hex; `content_type` as it will be declared."""

    byte_length: int
    sha256: str
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedObject:
    """What has arrived. `version` names exactly this content; `signature` is its first bytes."""

    byte_length: int
    sha256: str
    content_type: str
    announced_sha256: str
    version: str
    signature: bytes


def upload_id(randomness: str) -> str:
    """`randomness`: 32 hex digits."""
    return f"{UPLOAD_ID_PREFIX}{randomness}"


def is_upload_id(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def upload_key(owner: str, upload_id: str) -> str:
    owner_hash = hashlib.sha256(owner.encode()).hexdigest()[:32]
    return f"{UPLOADS_PREFIX}{owner_hash}/{upload_id}"
