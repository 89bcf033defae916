"""Headers, problems and answers that several operations share."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from functions.ingest_api.openapi.schemas import JOB_ID, ref
from functions.ingest_api.problem_types import PREFIX, PROBLEM_TYPES
from functions.ingest_api.problems import MEDIA_TYPE

Part = dict[str, Any]

FROM_ANYWHERE = (
    *("bad_request", "invalid_token", "unauthenticated", "invalid_signature", "expired_token"),
    *("access_denied", "too_many_requests", "internal", "unavailable", "gateway_timeout", "gateway_failure"),
)
"""What the gateway, the quota or an outage may answer to any request."""
_WAITING_MAY_HELP = frozenset({409, 429, 500, 503, 504})
_EXAMPLE_MEMBERS: dict[str, Part] = {
    "too_large": {"limit_bytes": 4_500_000, "uploads": "/v1/uploads"},
    "not_ready": {"job": f"/v1/jobs/{JOB_ID}"},
    "bad_parameter": {"parameter": "limit"},
}
_TEXT = {"type": "string"}

HEADERS: Part = {
    "Allow": {"description": "The methods that the resource knows.", "schema": _TEXT},
    "Cache-Control": {"description": "How long the answer may be kept, and by whom.", "schema": _TEXT},
    "ETag": {"description": "Send it back as If-None-Match to learn whether it changed.", "schema": _TEXT},
    "Idempotency-Replayed": {
        "description": "`true` where the key's first request made the job and this answer repeats it.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Location": {
        "description": "Where to go next; resolve it against the URL that was called.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "RateLimit": {"description": 'What is left of the quota: `"requests";r=499;t=7`.', "schema": _TEXT},
    "RateLimit-Policy": {"description": 'The quota: `"requests";q=500;w=10`.', "schema": _TEXT},
    "Retry-After": {
        "description": "Seconds to wait before asking again.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
}
_QUOTA = ("RateLimit", "RateLimit-Policy")


def answer(
    description: str,
    headers: Iterable[str] = (),
    *,
    metered: bool = True,
    schema: str | None = None,
    example: Part | None = None,
) -> Part:
    """One successful answer. `schema` names a component that its JSON body has."""
    names = [*headers, "Cache-Control", *(_QUOTA if metered else ())]
    found: Part = {"description": description, "headers": _headers(names)}
    if schema is not None:
        media: Part = {"schema": ref(schema)}
        if example is not None:
            media["example"] = example
        found["content"] = {"application/json": media}
    return found


def problem_answers(codes: Iterable[str]) -> Part:
    """The problems by status, each with an example."""
    by_status: dict[int, list[str]] = {}
    for code in (*codes, *FROM_ANYWHERE):
        by_status.setdefault(PROBLEM_TYPES[code].status, []).append(code)
    return {str(status): _problem_answer(status, by_status[status]) for status in sorted(by_status)}


def _problem_answer(status: int, codes: list[str]) -> Part:
    names = ["Cache-Control", *_QUOTA]
    if status in _WAITING_MAY_HELP:
        names.append("Retry-After")
    if status == 405:
        names.append("Allow")
    meanings = " ".join(f"`{code}`: {PROBLEM_TYPES[code].meaning}" for code in codes)
    return {
        "description": f"{HTTPStatus(status).phrase}. {meanings}",
        "headers": _headers(names),
        "content": {
            MEDIA_TYPE: {
                "schema": ref("Problem"),
                "examples": {code: {"value": _example(code)} for code in codes},
            }
        },
    }


def _example(code: str) -> Part:
    problem_type = PROBLEM_TYPES[code]
    return {
        "type": f"{PREFIX}{code}",
        "title": problem_type.title,
        "status": problem_type.status,
        "code": code,
        "detail": problem_type.meaning,
        **_EXAMPLE_MEMBERS.get(code, {}),
    }


def _headers(names: Iterable[str]) -> Part:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
