"""What a client sent, parsed and checked before any work is done."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from functions.ingest_api import problems
from functions.ingest_api.problems import ProblemError
from thumbline.domain.idempotency import IdempotencyKeyError, parse_key
from thumbline.domain.presets import DEFAULT_PRESET_NAME, Preset
from thumbline.service.accept_image import Submission
from thumbline.settings import IngestSettings, OwnerSource

LOCAL_OWNER = "local"


def submission(event: Mapping[str, Any], settings: IngestSettings) -> Submission:
    """A POST of image bytes. Raises ProblemError; the cheapest checks come first."""
    content_type = _content_type(event)
    key = _idempotency_key(event)
    presets = _presets(event, settings.presets)
    body = _body(event, settings.inline_limit_bytes)
    return Submission(
        owner=owner(event, settings.owner_source),
        idempotency_key=key,
        content_type=content_type,
        body=body,
        presets=presets,
    )


def owner(event: Mapping[str, Any], source: OwnerSource) -> str:
    """From the authorizer only. With IAM: the principal's unique id, without a role session's own name.

    Raises KeyError where a method is deployed without its authorizer: nothing may be answered then.
    """
    if source == "local":
        return LOCAL_OWNER
    user: str = event["requestContext"]["identity"]["user"]
    return user.partition(":")[0]


def header(event: Mapping[str, Any], name: str) -> str | None:
    """Header names are case-insensitive; repeated headers are joined, as RFC 9110 section 5.3 has it."""
    wanted = name.lower()
    for given, values in (event.get("multiValueHeaders") or {}).items():
        if given.lower() == wanted:
            return ", ".join(values)
    for given, value in (event.get("headers") or {}).items():
        if given.lower() == wanted:
            return str(value)
    return None


def _content_type(event: Mapping[str, Any]) -> str:
    declared = header(event, "Content-Type") or ""
    essence = declared.partition(";")[0].strip().lower()
    if essence and essence != "application/octet-stream" and not essence.startswith("image/"):
        raise ProblemError(problems.unsupported_media_type(essence[:100]))
    return essence


def _idempotency_key(event: Mapping[str, Any]) -> str:
    try:
        return parse_key(header(event, "Idempotency-Key"))
    except IdempotencyKeyError as error:
        raise ProblemError(problems.bad_key(str(error))) from error


def _presets(event: Mapping[str, Any], defined: Sequence[Preset]) -> tuple[Preset, ...]:
    """The default preset is always owed; `?presets=` asks for more of those that the stage defines."""
    query = event.get("queryStringParameters") or {}
    asked = {name.strip() for name in query.get("presets", "").split(",") if name.strip()}
    unknown = sorted(asked - {preset.name for preset in defined})
    if unknown:
        quoted = [repr(name[:40]) for name in unknown[:5]]
        raise ProblemError(problems.unknown_presets(quoted, [preset.name for preset in defined]))
    return tuple(preset for preset in defined if preset.name in asked | {DEFAULT_PRESET_NAME})


def _body(event: Mapping[str, Any], limit_bytes: int) -> bytes:
    """Exactly the bytes that were sent; API Gateway encodes them in base 64 for every binary media type."""
    text: str = event.get("body") or ""
    if event.get("isBase64Encoded"):
        try:
            body = base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise ProblemError(problems.internal()) from error
    else:
        body = text.encode()
    if len(body) > limit_bytes:
        raise ProblemError(problems.body_too_large(len(body), limit_bytes))
    return body
