"""A stage whose callers bear tokens: the authorizer, and what it may do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra.assets import FUNCTION_NAMES
from infra.settings import stage_settings, with_identity
from tests.infra.synthesis import placeholders
from tests.infra.template import Template


@pytest.fixture(scope="module")
def token_stage(tmp_path_factory: pytest.TempPathFactory) -> Template:
    from aws_cdk import App

    from infra.stack import ThumblineStack

    folder: Path = tmp_path_factory.mktemp("tokens")
    app = App(outdir=str(folder / "assembly"), builtin_cloud_formation_validation=False)
    settings = with_identity(stage_settings("dev"), "token")
    stack = ThumblineStack(app, settings=settings, assets=placeholders(folder))
    app.synth()
    return Template(json.loads((folder / "assembly" / str(stack.template_file)).read_text()))


def test_every_method_asks_the_authorizer_except_preflights(token_stage: Template) -> None:
    authorizer = token_stage.one("AWS::ApiGateway::Authorizer", "TokenAuthorizer")
    methods = token_stage.of_type("AWS::ApiGateway::Method").values()

    assert authorizer["Type"] == "TOKEN"
    assert authorizer["IdentitySource"] == "method.request.header.Authorization"
    assert authorizer["AuthorizerResultTtlInSeconds"] == 300
    for method in methods:
        preflight = method["Properties"]["HttpMethod"] == "OPTIONS"
        assert method["Properties"]["AuthorizationType"] == ("NONE" if preflight else "CUSTOM")
        assert ("AuthorizerId" in method["Properties"]) is not preflight


def test_the_authorizer_reads_tokens_and_nothing_else(token_stage: Template) -> None:
    actions = token_stage.actions("TokenAuthorizer")
    (statement,) = (
        found for found in token_stage.statements("TokenAuthorizer") if found["Action"] == "dynamodb:GetItem"
    )

    assert {action for action in actions if not action.startswith(("logs:", "xray:"))} == {"dynamodb:GetItem"}
    assert statement["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["token#*"]}}


def test_the_stage_tells_its_identity_to_the_next_deployment(token_stage: Template) -> None:
    assert token_stage.body["Outputs"]["Identity"]["Value"] == "token"


def test_ingest_takes_the_owner_from_the_authorizer(token_stage: Template) -> None:
    function = token_stage.one("AWS::Lambda::Function", "IngestApi")

    assert function["Environment"]["Variables"]["THUMBLINE_OWNER_SOURCE"] == "token"


def test_the_authorizers_code_is_staged() -> None:
    assert "token_authorizer" in FUNCTION_NAMES


def test_other_stages_have_no_authorizer(any_stage: Template) -> None:
    assert any_stage.of_type("AWS::ApiGateway::Authorizer") == {}
