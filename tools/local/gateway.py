"""What API Gateway and Lambda would answer in our place, taken from the template that is deployed.

The emulator models neither payload limit, and its own errors bypass the gateway responses of the stack. So
the front answers those cases itself, from the very templates that API Gateway would use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.local.errors import LocalStackError

LAMBDA_EVENT_LIMIT_BYTES = 6_291_556
"""Lambda refuses a larger synchronous request, counted after base64 (AWS Lambda quotas: 6 MB)."""
GATEWAY_PAYLOAD_LIMIT_BYTES = 10_485_760
"""API Gateway refuses a larger body (API Gateway quotas for REST APIs: 10 MB)."""
PROBLEM_TYPE = "application/problem+json"
REQUEST_TOO_LARGE, INTEGRATION_TIMEOUT, DEFAULT_5XX = (
    "REQUEST_TOO_LARGE",
    "INTEGRATION_TIMEOUT",
    "DEFAULT_5XX",
)
_USED = frozenset({REQUEST_TOO_LARGE, INTEGRATION_TIMEOUT, DEFAULT_5XX})
_RESOURCE_TYPE = "AWS::ApiGateway::GatewayResponse"
_HEADER_PREFIX = "gatewayresponse.header."
_VARIABLE = re.compile(r"\$context\.([A-Za-z.]+)")


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """A finished answer in the gateway's place."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class GatewayResponses:
    """The stack's gateway responses by type, such as REQUEST_TOO_LARGE or DEFAULT_5XX."""

    by_type: Mapping[str, Mapping[str, Any]]

    @classmethod
    def from_template(cls, template: Mapping[str, Any]) -> GatewayResponses:
        """Raises LocalStackError when a response that the front relies on is missing from the stack."""
        found = {
            resource["Properties"]["ResponseType"]: resource["Properties"]
            for resource in template["Resources"].values()
            if resource["Type"] == _RESOURCE_TYPE
        }
        if missing := _USED - found.keys():
            raise LocalStackError(f"The stack defines no gateway response {', '.join(sorted(missing))}.")
        return cls(found)

    def answer(
        self, response_type: str, *, message: str, request_id: str, path: str, default_status: int
    ) -> GatewayAnswer:
        """As API Gateway would render it; `default_status` is the gateway's own, where the stack has none."""
        properties = self.by_type[response_type]
        context = {
            "error.message": message,
            "error.messageString": json.dumps(message),
            "error.responseType": response_type,
            "path": path,
            "requestId": request_id,
        }
        headers = {
            name.removeprefix(_HEADER_PREFIX): value.strip("'")
            for name, value in properties.get("ResponseParameters", {}).items()
            if name.startswith(_HEADER_PREFIX)
        }
        template = properties["ResponseTemplates"]["application/json"]
        declared = properties.get("StatusCode")
        return GatewayAnswer(
            status=int(declared or default_status),
            headers={"Content-Type": PROBLEM_TYPE, **headers},
            body=_VARIABLE.sub(lambda match: context.get(match[1], ""), template).encode(),
        )


def exceeds_limits(body_bytes: int) -> bool:
    """Whether a body of this size never reaches a function: base64 makes four bytes of every three."""
    encoded_bytes = 4 * -(-body_bytes // 3)
    return body_bytes > GATEWAY_PAYLOAD_LIMIT_BYTES or encoded_bytes > LAMBDA_EVENT_LIMIT_BYTES
