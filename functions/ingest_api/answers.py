"""What every answer has in common: CORS, caching, and nothing for a browser to misread."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from functions.ingest_api.problems import MEDIA_TYPE, Problem

JSON = "application/json"
NO_STORE = {"Cache-Control": "no-store"}
_EVERYWHERE = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Allow, ETag, Idempotency-Replayed, Location, RateLimit,"
    " RateLimit-Policy, Retry-After",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
"""Any origin may read: nothing is authorized by cookies, so no page can act for its visitor."""
_REQUEST_HEADERS = (
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Amz-Content-Sha256, X-Amz-Date,"
    " X-Amz-Security-Token"
)
_PREFLIGHT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    media_type: str | None = None
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_headers(self, more: Mapping[str, str]) -> Answer:
        return replace(self, headers={**self.headers, **more})

    def to_response(self, *, with_body: bool) -> dict[str, Any]:
        """As API Gateway's proxy integration takes it."""
        headers = {**_EVERYWHERE, **self.headers}
        if self.media_type is not None:
            headers["Content-Type"] = self.media_type
        return {
            "statusCode": self.status,
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "body": self.body if with_body else "",
            "isBase64Encoded": False,
        }


def of_problem(problem: Problem) -> Answer:
    return Answer(problem.status, MEDIA_TYPE, problem.to_body(), {**problem.headers, **NO_STORE})


def preflight(allowed: Sequence[str]) -> Answer:
    """https://fetch.spec.whatwg.org/#http-cors-protocol"""
    methods = ", ".join(allowed)
    headers = {
        "Allow": methods,
        "Access-Control-Allow-Methods": methods,
        "Access-Control-Allow-Headers": _REQUEST_HEADERS,
        "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
    }
    return Answer(204, headers=headers)


def revalidated(answer: Answer, etag: str, if_none_match: str | None) -> Answer:
    """The answer with its entity tag, or 304 where the client has it already: RFC 9110 section 15.4.5."""
    tagged = answer.with_headers({"ETag": etag})
    return Answer(304, headers=tagged.headers) if matches(if_none_match, etag) else tagged


def etag_of(text: str) -> str:
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def matches(if_none_match: str | None, etag: str) -> bool:
    """Weak comparison over a list of entity tags, or any: RFC 9110 section 13.1.2."""
    tags = [tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")]
    return "*" in tags or etag in tags
