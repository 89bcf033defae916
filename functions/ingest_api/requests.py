"""What a client sent, parsed and checked before any work is done."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from functions.ingest_api import problems
from functions.ingest_api.problems import ProblemError
from thumbline.domain.idempotency import IdempotencyKeyError, parse_key
from thumbline.domain.json_text import parse_json
from thumbline.domain.presets import DEFAULT_PRESET_NAME, Preset
from thumbline.settings import IngestSettings, OwnerSource

LOCAL_OWNER = "local"
OCTET_STREAM = "application/octet-stream"
_WHOLE_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_JSON_LIMIT_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Request:
    """One proxy event, read on demand. `parameters` are those of the path."""

    event: Mapping[str, Any]
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def method(self) -> str:
        return str(self.event["httpMethod"])

    @property
    def path(self) -> str:
        return str(self.event["path"])

    def with_parameters(self, parameters: Mapping[str, str]) -> Request:
        return replace(self, parameters=parameters)

    def owner(self, source: OwnerSource) -> str:
        """From the authorizer only. With IAM: the principal's unique id, without a role session's own name.

        Raises KeyError, TypeError or AttributeError where a method is deployed without its authorizer:
        nothing may be answered then.
        """
        if source == "local":
            return LOCAL_OWNER
        context = self.event["requestContext"]
        if source == "token":
            return _named(context["authorizer"]["owner"])
        return _named(context["identity"]["user"].partition(":")[0])

    def header(self, name: str) -> str | None:
        """Names are case-insensitive; repeated headers are joined, as RFC 9110 section 5.3 has it."""
        wanted = name.lower()
        for given, values in (self.event.get("multiValueHeaders") or {}).items():
            if given.lower() == wanted:
                return ", ".join(values)
        for given, value in (self.event.get("headers") or {}).items():
            if given.lower() == wanted:
                return str(value)
        return None

    def query(self, name: str) -> str | None:
        """Raises ProblemError for a parameter that was given more than once."""
        values = (self.event.get("multiValueQueryStringParameters") or {}).get(name) or []
        if len(values) > 1:
            raise ProblemError(problems.bad_parameter(name, "given once"))
        return values[0] if values else None

    def query_number(self, name: str, largest: int) -> int | None:
        """A whole number from 1 on. Raises ProblemError."""
        text = self.query(name)
        if text is None:
            return None
        if not _WHOLE_NUMBER.fullmatch(text) or int(text) > largest:
            raise ProblemError(problems.bad_parameter(name, f"a whole number from 1 to {largest:,}"))
        return int(text)

    def content_type(self) -> str:
        """The declared media type without its parameters; '' where none is declared."""
        return (self.header("Content-Type") or "").partition(";")[0].strip().lower()

    def body(self) -> bytes:
        """Exactly the bytes that were sent; API Gateway encodes them in base 64 for every binary media type.

        Raises binascii.Error for an event that API Gateway does not make.
        """
        text: str = self.event.get("body") or ""
        return base64.b64decode(text, validate=True) if self.event.get("isBase64Encoded") else text.encode()

    def json(self) -> dict[str, Any]:
        """The body as a JSON object. Raises ProblemError."""
        body = self.body()
        if len(body) > _JSON_LIMIT_BYTES:
            raise ProblemError(
                problems.malformed_body(f"The document has more than {_JSON_LIMIT_BYTES:,} bytes")
            )
        try:
            document = parse_json(body)
        except ValueError as error:
            raise ProblemError(problems.malformed_body("The body is no JSON document")) from error
        if not isinstance(document, dict):
            raise ProblemError(problems.malformed_body("The body must be a JSON object"))
        return document


def idempotency_key(request: Request) -> str:
    """Raises ProblemError."""
    try:
        return parse_key(request.header("Idempotency-Key"))
    except IdempotencyKeyError as error:
        raise ProblemError(problems.bad_key(str(error))) from error


def picture_type(request: Request) -> str:
    """The declared type of a body that is a picture. Raises ProblemError."""
    declared = request.content_type()
    if declared and declared != OCTET_STREAM and not declared.startswith("image/"):
        raise ProblemError(problems.no_picture_type(declared[:100]))
    return declared


def picture(request: Request, settings: IngestSettings) -> bytes:
    """The body that is a picture. Raises ProblemError."""
    body = request.body()
    if len(body) > settings.inline_limit_bytes:
        raise ProblemError(problems.body_too_large(len(body), settings.inline_limit_bytes))
    return body


def owed_presets(request: Request, defined: Sequence[Preset]) -> tuple[Preset, ...]:
    """The default preset is always owed; `?presets=` asks for more of those that the stage defines.

    Raises ProblemError.
    """
    asked = {name.strip() for name in (request.query("presets") or "").split(",") if name.strip()}
    unknown = sorted(asked - {preset.name for preset in defined})
    if unknown:
        quoted = [repr(name[:40]) for name in unknown[:5]]
        raise ProblemError(problems.unknown_presets(quoted, [preset.name for preset in defined]))
    return tuple(preset for preset in defined if preset.name in asked | {DEFAULT_PRESET_NAME})


def _named(owner: object) -> str:
    if not isinstance(owner, str) or not owner:
        raise TypeError("the authorizer named no owner")
    return owner
