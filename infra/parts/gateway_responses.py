"""API Gateway's own errors as problem documents (RFC 9457), as far as gateway responses reach."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import aws_apigateway as apigateway

API_STAGE = "v1"
PROBLEM_CONTENT_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 5
"""Throttles refill within a second and a failing integration rarely heals faster than this."""

EVERY_ANSWER = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Retry-After",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
"""So that a page of another origin can read a refusal, too, and nobody keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayProblem:
    """One kind of gateway error. `status` is None for the defaults, which keep the gateway's own status."""

    kind: str
    status: int | None
    code: str
    title: str
    detail: str
    waiting_helps: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> str:
        """A template: API Gateway fills in `$context` variables."""
        status = {} if self.status is None else {"status": self.status}
        problem = {
            "type": f"/{API_STAGE}/problems/{self.code}",
            "title": self.title,
            **status,
            "code": self.code,
            "detail": self.detail,
            "request_id": "$context.requestId",
        }
        return json.dumps(problem)


def gateway_problems(inline_limit_bytes: int) -> tuple[GatewayProblem, ...]:
    """Everything that the gateway may answer without asking our function."""
    return (
        GatewayProblem(
            kind="REQUEST_TOO_LARGE",
            status=413,
            code="too_large",
            title="Too large",
            detail=f"The request body is too large: at most {inline_limit_bytes:,} bytes can be sent in one"
            " request; send the picture by way of POST /v1/uploads.",
        ),
        GatewayProblem(
            kind="THROTTLED",
            status=429,
            code="too_many_requests",
            title="Too many requests",
            detail="This API is receiving more requests than it admits; send the same request again later.",
            waiting_helps=True,
        ),
        GatewayProblem(
            kind="UNAUTHORIZED",
            status=401,
            code="invalid_token",
            title="Not authenticated",
            detail="The bearer token is missing, unknown or revoked; send Authorization: Bearer TOKEN.",
            # RFC 9110 section 15.5.2 asks for it.
            headers={"WWW-Authenticate": "Bearer"},
        ),
        GatewayProblem(
            kind="MISSING_AUTHENTICATION_TOKEN",
            status=403,
            code="unauthenticated",
            title="Forbidden",
            detail="The request is not signed; sign it with AWS Signature Version 4.",
        ),
        GatewayProblem(
            kind="INVALID_SIGNATURE",
            status=403,
            code="invalid_signature",
            title="Forbidden",
            detail="The request's signature does not match; check the secret key and the region.",
        ),
        GatewayProblem(
            kind="EXPIRED_TOKEN",
            status=403,
            code="expired_token",
            title="Forbidden",
            detail="The credentials that signed the request have expired; get new ones and sign again.",
        ),
        GatewayProblem(
            kind="ACCESS_DENIED",
            status=403,
            code="access_denied",
            title="Forbidden",
            detail="The caller may not call this API; ask its operator for execute-api:Invoke.",
        ),
        GatewayProblem(
            kind="INTEGRATION_TIMEOUT",
            status=504,
            code="gateway_timeout",
            title="Gateway timeout",
            detail="The service did not answer in time and the outcome is unknown;"
            " send the same request with the same Idempotency-Key again.",
            waiting_helps=True,
        ),
        GatewayProblem(
            kind="INTEGRATION_FAILURE",
            status=504,
            code="gateway_failure",
            title="Gateway failure",
            detail="The service could not be reached and the outcome is unknown;"
            " send the same request with the same Idempotency-Key again.",
            waiting_helps=True,
        ),
        GatewayProblem(
            kind="DEFAULT_4XX",
            status=None,
            code="bad_request",
            title="Bad request",
            detail="The gateway refused the request ($context.error.responseType); correct it and try again.",
        ),
        GatewayProblem(
            kind="DEFAULT_5XX",
            status=None,
            code="internal",
            title="Internal error",
            detail="The service failed and the outcome is unknown;"
            " send the same request with the same Idempotency-Key again.",
            waiting_helps=True,
        ),
    )


def add_gateway_responses(api: apigateway.RestApi, inline_limit_bytes: int) -> None:
    for problem in gateway_problems(inline_limit_bytes):
        headers = {"Content-Type": PROBLEM_CONTENT_TYPE, **EVERY_ANSWER, **problem.headers}
        if problem.waiting_helps:
            headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        api.add_gateway_response(
            problem.kind,
            type=apigateway.ResponseType.of(problem.kind),
            status_code=None if problem.status is None else str(problem.status),
            response_headers={name: f"'{value}'" for name, value in headers.items()},
            # The only template key that every gateway reads; the header above is what the client sees.
            templates={"application/json": problem.body()},
        )
