"""What each function may do, action by action: an operation more or less must change this file."""

from __future__ import annotations

import json

import pytest

from tests.infra.template import Template

LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACES = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}

ALLOWED = {
    "IngestApi": {
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:Query",
        "s3:PutObject",
        "s3:GetObject",
        "s3:DeleteObject",
        "s3:ListBucket",
    },
    "OutboxRelay": {
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
        "sqs:SendMessage",
    },
    "ThumbnailWorker": {
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        "s3:GetObject",
        "s3:PutObject",
        "s3:ListBucket",
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:GetQueueAttributes",
        "sqs:SendMessage",
    },
    "JobReconciler": {
        "dynamodb:Query",
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "dynamodb:PutItem",
        "dynamodb:GetShardIterator",
        "dynamodb:GetRecords",
        "sqs:SendMessage",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "s3:DeleteObject",
        "s3:ListBucket",
    },
}
UNRESOURCED = {"dynamodb:ListStreams", *TRACES}
"""Actions that IAM does not let anyone restrict to a resource."""


@pytest.mark.parametrize("name", ALLOWED)
def test_a_function_may_do_exactly_what_its_use_cases_do(name: str, templates: dict[str, Template]) -> None:
    assert templates["prod"].actions(name) == ALLOWED[name] | LOGS | TRACES
    assert templates["local"].actions(name) == ALLOWED[name] | LOGS


def test_whoever_answers_clients_cannot_reach_a_queue(any_stage: Template) -> None:
    assert not any(action.startswith("sqs:") for action in any_stage.actions("IngestApi"))


@pytest.mark.parametrize("name", ALLOWED)
def test_no_permission_is_wider_than_its_resource(name: str, any_stage: Template) -> None:
    for statement in any_stage.statements(name):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        assert not any("*" in action for action in actions)
        if statement["Resource"] == "*":
            assert set(actions) <= UNRESOURCED


def test_nothing_but_the_roles_own_statements_is_granted(any_stage: Template) -> None:
    assert any_stage.of_type("AWS::IAM::Policy") == {}
    for name in ALLOWED:
        role = any_stage.one("AWS::IAM::Role", f"{name}Role")
        assert "ManagedPolicyArns" not in role
        assert [policy["PolicyName"] for policy in role["Policies"]] == ["operations"]
        assert any_stage.one("AWS::Lambda::Function", name)["Role"] == any_stage.arn_of(
            "AWS::IAM::Role", f"{name}Role"
        )


@pytest.mark.parametrize(
    ("name", "action", "prefixes"),
    [
        ("IngestApi", "s3:PutObject", ["originals/*", "uploads/*"]),
        ("IngestApi", "s3:GetObject", ["thumbnails/*", "uploads/*"]),
        ("IngestApi", "s3:DeleteObject", ["originals/*", "thumbnails/*"]),
        ("ThumbnailWorker", "s3:GetObject", ["originals/*"]),
        ("ThumbnailWorker", "s3:PutObject", ["thumbnails/*"]),
    ],
)
def test_objects_are_reached_by_prefix(name: str, action: str, prefixes: list[str], dev: Template) -> None:
    (statement,) = (found for found in dev.statements(name) if found["Action"] == action)

    resources = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]

    assert [resource["Fn::Join"][1][-1] for resource in resources] == [f"/{prefix}" for prefix in prefixes]


def test_ingest_counts_and_keeps_its_secret_but_reaches_no_token(dev: Template) -> None:
    keys = [
        statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for statement in dev.statements("IngestApi")
        if "ForAllValues:StringLike" in statement.get("Condition", {})
    ]

    assert keys == [["quota#*"], ["secret#*"]]
    (access,) = dev.of_type("AWS::DynamoDB::Table").keys() & {
        name for name in dev.of_type("AWS::DynamoDB::Table") if name.startswith("TablesAccess")
    }
    unconditional = [statement for statement in dev.statements("IngestApi") if "Condition" not in statement]
    assert access not in json.dumps(unconditional)


def test_the_relay_may_write_to_every_queue_that_it_feeds_and_to_no_other(dev: Template) -> None:
    (statement,) = (found for found in dev.statements("OutboxRelay") if found["Action"] == "sqs:SendMessage")

    assert statement["Resource"] == [
        dev.arn_of("AWS::SQS::Queue", f"Queues{name}") for name in ("Work", "DeadLetter", "RelayFailure")
    ]


def test_the_reconciler_queries_the_due_index_and_nothing_else(dev: Template) -> None:
    (statement,) = (found for found in dev.statements("JobReconciler") if found["Action"] == "dynamodb:Query")

    assert json.dumps(statement["Resource"]).endswith('"/index/due"]]}')


def test_the_reconciler_puts_its_snapshot_and_no_job(dev: Template) -> None:
    (statement,) = (
        found for found in dev.statements("JobReconciler") if found["Action"] == "dynamodb:PutItem"
    )

    assert statement["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["snapshot"]}}


def test_a_missing_original_is_told_from_a_forbidden_one(dev: Template) -> None:
    (statement,) = (
        found for found in dev.statements("ThumbnailWorker") if found["Action"] == "s3:ListBucket"
    )

    assert statement["Resource"] == dev.arn_of("AWS::S3::Bucket", "BucketImages")
    assert statement["Condition"] == {"StringLikeIfExists": {"s3:prefix": "originals/*"}}
