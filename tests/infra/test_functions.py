"""The four functions of the template: settings, layers, triggers, logs."""

from __future__ import annotations

import json

import pytest

from infra.settings import stage_settings
from infra.topology import topology_of
from tests.infra.template import Template
from thumbline.settings import (
    EnvironmentSettings,
    IngestSettings,
    ReconcilerSettings,
    RelaySettings,
    WorkerSettings,
)

FUNCTION, MAPPING, QUEUE = "AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping", "AWS::SQS::Queue"

SETTINGS: dict[str, type[EnvironmentSettings]] = {
    "IngestApi": IngestSettings,
    "OutboxRelay": RelaySettings,
    "ThumbnailWorker": WorkerSettings,
    "JobReconciler": ReconcilerSettings,
}
HANDLERS = {
    "IngestApi": "functions.ingest_api.handler.lambda_handler",
    "OutboxRelay": "functions.outbox_relay.handler.lambda_handler",
    "ThumbnailWorker": "functions.thumbnail_worker.handler.lambda_handler",
    "JobReconciler": "functions.job_reconciler.handler.lambda_handler",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_environment_is_exactly_what_the_settings_class_reads(name: str, any_stage: Template) -> None:
    variables = any_stage.one(FUNCTION, name)["Environment"]["Variables"]

    assert set(variables) == SETTINGS[name].variable_names()


@pytest.mark.parametrize("name", SETTINGS)
def test_the_handler_can_read_its_settings_back(name: str, any_stage: Template) -> None:
    variables = any_stage.one(FUNCTION, name)["Environment"]["Variables"]
    resolved = {key: value if isinstance(value, str) else "resolved" for key, value in variables.items()}

    assert SETTINGS[name].from_env(resolved).to_env() == resolved


def test_the_worker_gets_the_numbers_of_the_topology(
    any_stage: Template, templates: dict[str, Template]
) -> None:
    (stage,) = (name for name, template in templates.items() if template is any_stage)
    topology = topology_of(stage_settings(stage))
    worker = any_stage.one(FUNCTION, "ThumbnailWorker")
    variables = worker["Environment"]["Variables"]

    assert worker["Timeout"] == topology.timings.function_timeout_seconds
    assert worker["MemorySize"] == topology.worker_memory_mb
    assert variables["THUMBLINE_LEASE_SECONDS"] == str(topology.timings.lease_seconds)
    assert variables["THUMBLINE_WALL_SECONDS"] == str(topology.settings.limits.wall_seconds)


@pytest.mark.parametrize(("stage", "source"), [("dev", "iam"), ("prod", "iam"), ("local", "local")])
def test_the_owner_comes_from_the_authorizer_wherever_there_is_one(
    stage: str, source: str, templates: dict[str, Template]
) -> None:
    variables = templates[stage].one(FUNCTION, "IngestApi")["Environment"]["Variables"]

    assert variables["THUMBLINE_OWNER_SOURCE"] == source


@pytest.mark.parametrize("name", HANDLERS)
def test_runtime_architecture_and_handler(name: str, dev: Template) -> None:
    function = dev.one(FUNCTION, name)

    assert function["Handler"] == HANDLERS[name]
    assert function["Runtime"] == "python3.13"
    assert function["Architectures"] == ["arm64"]


def test_only_the_worker_carries_the_imaging_layer(any_stage: Template) -> None:
    layer = {"Ref": any_stage.named("AWS::Lambda::LayerVersion", "LayersImaging")}
    carriers = [name for name in HANDLERS if layer in any_stage.one(FUNCTION, name)["Layers"]]

    assert carriers == ["ThumbnailWorker"]
    assert {len(any_stage.one(FUNCTION, name)["Layers"]) for name in HANDLERS} == {2, 3}


@pytest.mark.parametrize(("stage", "days"), [("dev", 14), ("prod", 90), ("local", 1)])
def test_every_log_group_forgets(stage: str, days: int, templates: dict[str, Template]) -> None:
    groups = templates[stage].of_type("AWS::Logs::LogGroup")

    assert len(groups) == 5
    assert {group["Properties"]["RetentionInDays"] for group in groups.values()} == {days}
    for name in HANDLERS:
        logging = templates[stage].one(FUNCTION, name)["LoggingConfig"]
        assert logging == {"LogGroup": {"Ref": templates[stage].named("AWS::Logs::LogGroup", name)}}


def test_the_outbox_is_read_from_its_beginning_and_never_blocks_for_ever(any_stage: Template) -> None:
    mapping = any_stage.one(MAPPING, "OutboxRelay")

    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["MaximumRetryAttempts"] == 20
    assert mapping["MaximumRecordAgeInSeconds"] == 3600
    assert mapping["DestinationConfig"] == {
        "OnFailure": {"Destination": any_stage.arn_of(QUEUE, "QueuesRelayFailure")}
    }
    assert mapping["EventSourceArn"] == {
        "Fn::GetAtt": [any_stage.named("AWS::DynamoDB::Table", "TablesJobs"), "StreamArn"]
    }


def test_the_relay_sees_only_rows_that_may_owe_a_publish(any_stage: Template) -> None:
    (pattern,) = any_stage.one(MAPPING, "OutboxRelay")["FilterCriteria"]["Filters"]

    assert json.loads(pattern["Pattern"]) == {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"status": {"S": ["QUEUED", "FAILED"]}}},
    }


@pytest.mark.parametrize(("stage", "concurrency"), [("dev", 5), ("prod", 50), ("local", 4)])
def test_work_comes_in_small_batches_at_bounded_concurrency(
    stage: str, concurrency: int, templates: dict[str, Template]
) -> None:
    mapping = templates[stage].one(MAPPING, "ThumbnailWorker")

    assert mapping["EventSourceArn"] == templates[stage].arn_of(QUEUE, "QueuesWork")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 5
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": concurrency}
    reserved = templates[stage].one(FUNCTION, "ThumbnailWorker").get("ReservedConcurrentExecutions")
    assert reserved == (50 if stage == "prod" else None)


def test_the_reconciler_runs_every_minute_and_never_twice_for_one_tick(any_stage: Template) -> None:
    rule = any_stage.one("AWS::Events::Rule", "JobReconciler")
    retries = any_stage.one("AWS::Lambda::EventInvokeConfig", "JobReconciler")

    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert rule["State"] == "ENABLED"
    assert rule["Targets"][0]["Arn"] == any_stage.arn_of(FUNCTION, "JobReconciler")
    assert retries["MaximumRetryAttempts"] == 0


@pytest.mark.parametrize(("stage", "mode"), [("dev", "Active"), ("prod", "Active"), ("local", None)])
def test_functions_are_traced_where_x_ray_is(
    stage: str, mode: str | None, templates: dict[str, Template]
) -> None:
    modes = {templates[stage].one(FUNCTION, name).get("TracingConfig", {}).get("Mode") for name in HANDLERS}

    assert modes == {mode}
