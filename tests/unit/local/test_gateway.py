"""Answers in API Gateway's place, rendered from the deployed templates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools.local.errors import LocalStackError
from tools.local.gateway import GatewayResponses, exceeds_limits


def template(**responses: dict[str, Any]) -> dict[str, Any]:
    resources: dict[str, Any] = {
        kind: {"Type": "AWS::ApiGateway::GatewayResponse", "Properties": {"ResponseType": kind, **properties}}
        for kind, properties in responses.items()
    }
    return {"Resources": {"Table": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {}}, **resources}}


def with_body(body: str) -> dict[str, Any]:
    return {"ResponseTemplates": {"application/json": body}}


COMPLETE = template(
    REQUEST_TOO_LARGE={
        "StatusCode": "413",
        "ResponseParameters": {
            "gatewayresponse.header.Content-Type": "'application/problem+json'",
            "gatewayresponse.header.Retry-After": "'5'",
        },
        **with_body(
            '{"message": $context.error.messageString, "type": "$context.error.responseType",'
            ' "id": "$context.requestId", "path": "$context.path", "caller": "$context.identity.caller"}'
        ),
    },
    INTEGRATION_TIMEOUT=with_body("{}"),
    DEFAULT_5XX=with_body('{"message": "$context.error.message"}'),
)


def test_variables_and_headers_are_filled_in() -> None:
    answer = GatewayResponses.from_template(COMPLETE).answer(
        "REQUEST_TOO_LARGE", message='too "long"', request_id="r-1", path="/v1/images", default_status=400
    )

    assert answer.status == 413
    assert answer.headers == {"Content-Type": "application/problem+json", "Retry-After": "5"}
    assert json.loads(answer.body) == {
        "message": 'too "long"',
        "type": "REQUEST_TOO_LARGE",
        "id": "r-1",
        "path": "/v1/images",
        "caller": "",
    }


def test_the_gateways_own_status_stands_where_the_stack_has_none() -> None:
    answer = GatewayResponses.from_template(COMPLETE).answer(
        "DEFAULT_5XX", message="m", request_id="r", path="/", default_status=502
    )

    assert (answer.status, json.loads(answer.body)) == (502, {"message": "m"})


def test_a_stack_without_a_needed_response_is_refused() -> None:
    with pytest.raises(LocalStackError, match="no gateway response DEFAULT_5XX, INTEGRATION_TIMEOUT"):
        GatewayResponses.from_template(template(REQUEST_TOO_LARGE=with_body("{}")))


@pytest.mark.parametrize(
    ("body_bytes", "expected"),
    [(0, False), (4_500_001, False), (4_718_667, False), (4_718_668, True), (10_485_761, True)],
)
def test_the_limit_counts_bytes_after_base64(body_bytes: int, expected: bool) -> None:
    assert exceeds_limits(body_bytes) is expected
