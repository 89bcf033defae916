"""Outputs, names and tags of the whole stack."""

from __future__ import annotations

import pytest

from tests.infra.template import Template

OUTPUTS = {
    "ApiUrl",
    "ApiId",
    "Identity",
    "JobsTableName",
    "IdempotencyTableName",
    "AccessTableName",
    "BucketName",
    "WorkQueueUrl",
    "UndeliveredQueueUrl",
    "DeadLetterQueueUrl",
    "RelayFailureQueueUrl",
    "AlarmTopicArn",
    "IngestApiFunctionName",
    "OutboxRelayFunctionName",
    "ThumbnailWorkerFunctionName",
    "JobReconcilerFunctionName",
}
TAGGED = (
    "AWS::DynamoDB::Table",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::Lambda::Function",
    "AWS::Logs::LogGroup",
    "AWS::ApiGateway::RestApi",
    "AWS::KMS::Key",
    "AWS::SNS::Topic",
)


def test_the_outputs_are_those_that_tools_read(any_stage: Template) -> None:
    assert set(any_stage.body["Outputs"]) == OUTPUTS


@pytest.mark.parametrize(("stage", "identity"), [("dev", "iam"), ("prod", "iam"), ("local", "local")])
def test_a_deployed_stage_tells_how_its_callers_are_told_apart(
    stage: str, identity: str, templates: dict[str, Template]
) -> None:
    assert templates[stage].body["Outputs"]["Identity"]["Value"] == identity


@pytest.mark.parametrize("kind", TAGGED)
@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_what_costs_money_says_whose_it_is(kind: str, stage: str, templates: dict[str, Template]) -> None:
    resources = templates[stage].of_type(kind)

    assert resources
    for name, resource in resources.items():
        tags = {tag["Key"]: tag["Value"] for tag in resource["Properties"]["Tags"]}
        assert tags == {"project": "thumbline", "stage": stage}, name


def test_only_prod_outlives_its_stack_except_for_the_accounts_logging_role(
    templates: dict[str, Template],
) -> None:
    """API Gateway has one role an account and region for all APIs' logs, so no stack may take it away."""
    for stage in ("dev", "local"):
        kept = {
            name
            for name, resource in templates[stage].body["Resources"].items()
            if resource.get("DeletionPolicy", "Delete") != "Delete"
        }
        assert {name.rstrip("0123456789ABCDEF") for name in kept} == {
            "RestApiAccount",
            "RestApiCloudWatchRole",
        }


def test_a_stage_has_no_other_stages_api_name(templates: dict[str, Template]) -> None:
    """CloudWatch tells APIs apart by their names alone."""
    names = [template.one("AWS::ApiGateway::RestApi", "Rest")["Name"] for template in templates.values()]

    assert names == ["thumbline-dev", "thumbline-prod", "thumbline-local"]
