"""The API of the template: routes, authorization, binary bodies, problem documents."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from functions.ingest_api.problem_types import PROBLEM_TYPES
from functions.ingest_api.routes import ROUTER
from infra.settings import stage_settings
from tests.infra.template import Template

METHOD = "AWS::ApiGateway::Method"


def _methods(template: Template) -> dict[tuple[str, str], dict[str, Any]]:
    """(method, path) -> the method's properties."""
    resources = template.of_type("AWS::ApiGateway::Resource")

    def path(reference: dict[str, Any]) -> str:
        if "Fn::GetAtt" in reference:
            return ""
        found = resources[reference["Ref"]]["Properties"]
        return f"{path(found['ParentId'])}/{found['PathPart']}"

    return {
        (found["Properties"]["HttpMethod"], path(found["Properties"]["ResourceId"]) or "/"): found[
            "Properties"
        ]
        for found in template.of_type(METHOD).values()
    }


def test_the_routes_are_explicit_and_every_other_request_reaches_our_function(any_stage: Template) -> None:
    methods = _methods(any_stage)
    paths = {path for _, path in methods}

    assert {(route.method, route.path) for route in ROUTER.routes} <= set(methods)
    assert paths == {route.path for route in ROUTER.routes} | {"/", "/problems", "/{proxy+}"}
    for path in paths:
        assert ("ANY", path) in methods
        assert ("OPTIONS", path) in methods


@pytest.mark.parametrize(("stage", "kind"), [("dev", "AWS_IAM"), ("prod", "AWS_IAM"), ("local", "NONE")])
def test_every_method_is_authorized_as_the_stage_says_except_preflights(
    stage: str, kind: str, templates: dict[str, Template]
) -> None:
    for (method, path), properties in _methods(templates[stage]).items():
        expected = "NONE" if method == "OPTIONS" else kind
        assert properties["AuthorizationType"] == expected, f"{method} {path}"


def test_every_method_is_answered_by_ingest_api(any_stage: Template) -> None:
    function = any_stage.named("AWS::Lambda::Function", "IngestApi")

    for properties in _methods(any_stage).values():
        assert properties["Integration"]["Type"] == "AWS_PROXY"
        assert function in json.dumps(properties["Integration"]["Uri"])


def test_bodies_of_every_type_arrive_byte_for_byte(any_stage: Template) -> None:
    api = any_stage.one("AWS::ApiGateway::RestApi", "Rest")

    assert api["BinaryMediaTypes"] == ["*/*"]
    assert api["EndpointConfiguration"] == {"Types": ["REGIONAL"]}


@pytest.mark.parametrize(("stage", "traced"), [("dev", True), ("prod", True), ("local", False)])
def test_the_stage_is_v1_throttled_and_logged(
    stage: str, traced: bool, templates: dict[str, Template]
) -> None:
    deployed = templates[stage].one("AWS::ApiGateway::Stage", "Rest")
    throttle, *work = deployed["MethodSettings"]
    settings = stage_settings(stage)

    assert deployed["StageName"] == "v1"
    assert deployed["TracingEnabled"] is traced
    assert throttle["ThrottlingRateLimit"] == settings.api_rate_limit
    assert throttle["ThrottlingBurstLimit"] == settings.api_burst_limit
    assert [(method["HttpMethod"], method["ResourcePath"]) for method in work] == [
        ("POST", "/~1images"),
        ("POST", "/~1uploads"),
    ]
    for method in work:
        assert method["ThrottlingRateLimit"] == settings.api_rate_limit // 2
        assert method["ThrottlingBurstLimit"] == settings.api_burst_limit // 2
    assert deployed["AccessLogSetting"]["DestinationArn"] == templates[stage].arn_of(
        "AWS::Logs::LogGroup", "RestAccessLog"
    )


def test_the_gateways_own_errors_are_problem_documents(any_stage: Template) -> None:
    responses = {
        found["Properties"]["ResponseType"]: found["Properties"]
        for found in any_stage.of_type("AWS::ApiGateway::GatewayResponse").values()
    }

    assert set(responses) == {
        *("REQUEST_TOO_LARGE", "THROTTLED", "INTEGRATION_TIMEOUT", "INTEGRATION_FAILURE"),
        *(
            "UNAUTHORIZED",
            "MISSING_AUTHENTICATION_TOKEN",
            "INVALID_SIGNATURE",
            "EXPIRED_TOKEN",
            "ACCESS_DENIED",
        ),
        *("DEFAULT_4XX", "DEFAULT_5XX"),
    }
    for kind, response in responses.items():
        parameters = response["ResponseParameters"]
        problem = json.loads(response["ResponseTemplates"]["application/json"])
        assert parameters["gatewayresponse.header.Content-Type"] == "'application/problem+json'"
        assert {"type", "title", "code", "detail"} <= set(problem)
        assert problem["type"] == f"/v1/problems/{problem['code']}"
        assert problem["code"] in PROBLEM_TYPES
        assert parameters["gatewayresponse.header.Access-Control-Allow-Origin"] == "'*'"
        assert parameters["gatewayresponse.header.Cache-Control"] == "'no-store'"
        if not kind.startswith("DEFAULT"):
            assert str(problem["status"]) == response["StatusCode"]
        # 429, 5xx: waiting helps, so the answer says how long.
        assert ("gatewayresponse.header.Retry-After" in parameters) == bool(
            re.search("THROTTLED|INTEGRATION|5XX", kind)
        )


def test_a_body_too_large_for_the_gateway_gets_our_code_and_our_limit(any_stage: Template) -> None:
    (response,) = (
        found["Properties"]
        for found in any_stage.of_type("AWS::ApiGateway::GatewayResponse").values()
        if found["Properties"]["ResponseType"] == "REQUEST_TOO_LARGE"
    )
    problem = json.loads(response["ResponseTemplates"]["application/json"])

    assert (problem["status"], problem["code"]) == (413, "too_large")
    assert "4,500,000 bytes" in problem["detail"]
    assert "/v1/uploads" in problem["detail"]


def test_the_url_that_links_are_resolved_against(any_stage: Template) -> None:
    api = any_stage.named("AWS::ApiGateway::RestApi", "Rest")
    parts = any_stage.body["Outputs"]["ApiUrl"]["Value"]["Fn::Join"][1]

    assert parts[0] == "https://"
    assert parts[1] == {"Ref": api}
    assert parts[-1] == "/v1"
