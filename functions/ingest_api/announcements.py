"""What a client says about a picture that it will upload, or has uploaded."""

from __future__ import annotations

import re
from typing import Any

from functions.ingest_api import problems
from functions.ingest_api.problems import ProblemError
from functions.ingest_api.requests import OCTET_STREAM, Request
from thumbline.domain.uploads import Announcement

JSON = "application/json"
SHA256_PATTERN = "^[0-9a-f]{64}$"
TYPE_PATTERN = "^(image/[a-z0-9][a-z0-9.+-]{0,63}|application/octet-stream)$"
_SHA256 = re.compile(SHA256_PATTERN)
_TYPE = re.compile(TYPE_PATTERN)


def announcement(request: Request, limit_bytes: int) -> Announcement:
    """The body of POST /uploads. Raises ProblemError."""
    document = _document(request, {"byte_length", "sha256", "content_type"})
    byte_length = document.get("byte_length")
    if isinstance(byte_length, float) and byte_length.is_integer():
        byte_length = int(byte_length)  # JSON knows one kind of number
    if type(byte_length) is not int or byte_length < 1:
        raise ProblemError(problems.malformed_body("byte_length must be the picture's size, at least 1"))
    sha256 = document.get("sha256")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise ProblemError(
            problems.malformed_body(
                "sha256 must be the picture's SHA-256 in 64 lower-case hexadecimal digits"
            )
        )
    content_type = document.get("content_type", OCTET_STREAM)
    if not isinstance(content_type, str) or not _TYPE.fullmatch(content_type):
        raise ProblemError(
            problems.malformed_body(f"content_type must be a type of picture, or {OCTET_STREAM}")
        )
    if byte_length > limit_bytes:
        raise ProblemError(problems.upload_too_large(byte_length, limit_bytes))
    return Announcement(byte_length=byte_length, sha256=sha256, content_type=content_type)


def committed_upload(request: Request) -> str:
    """The upload's id in the body of POST /images. Raises ProblemError."""
    upload_id = _document(request, {"upload_id"}).get("upload_id")
    if not isinstance(upload_id, str):
        raise ProblemError(problems.malformed_body("upload_id must be the id that POST /v1/uploads gave"))
    return upload_id


def _document(request: Request, known: set[str]) -> dict[str, Any]:
    if request.content_type() != JSON:
        raise ProblemError(problems.no_json_type(request.content_type()[:100]))
    document = request.json()
    if unknown := sorted(document.keys() - known):
        names = ", ".join(repr(name[:40]) for name in unknown[:5])
        raise ProblemError(
            problems.malformed_body(f"The document has {names}; it takes {', '.join(sorted(known))}")
        )
    return document
