"""Alarms, where they go, their runbooks, and the dashboard."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from infra.parts.alarms import page_of
from infra.settings import stage_settings
from tests.infra.template import Template
from thumbline import metrics as names

ROOT = Path(__file__).resolve().parents[2]
RUNBOOKS = ROOT / "docs" / "runbooks"
ALARM, QUEUE, FUNCTION = "AWS::CloudWatch::Alarm", "AWS::SQS::Queue", "AWS::Lambda::Function"
ALARMS = {
    "ApiServerErrors",
    "FirstDeadLetter",
    "FirstRelayFailure",
    "FirstUndelivered",
    "LostRelayFailures",
    "OldestMessage",
    "OldestOpenJob",
    "OutboxAge",
    "ReconcilerFailures",
    "ReconcilerHeartbeat",
    "RelayFailures",
    "Rescues",
    "WorkerErrors",
    "WorkerThrottles",
}
ON_EXPRESSIONS = {
    "FirstRelayFailure",
    "FirstUndelivered",
    "ReconcilerHeartbeat",
    "RelayFailures",
    "Rescues",
    "WorkerErrors",
}
HEADINGS = ["## What it means", "## Look at first", "## What to do", "## What not to do"]


@pytest.fixture(params=["dev", "prod"])
def deployed(request: pytest.FixtureRequest, templates: dict[str, Template]) -> Template:
    return templates[request.param]


def _alarm(template: Template, name: str) -> dict[str, Any]:
    return template.one(ALARM, f"Alarms{name}")


def _metrics(alarm: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Metric name -> the metric, of an alarm on one metric or on an expression."""
    if "MetricName" in alarm:
        return {alarm["MetricName"]: {**alarm, "Stat": alarm["Statistic"]}}
    found = [part["MetricStat"] for part in alarm["Metrics"] if "MetricStat" in part]
    return {stat["Metric"]["MetricName"]: {**stat["Metric"], **stat} for stat in found}


def _expression(alarm: dict[str, Any]) -> str:
    (expression,) = (part["Expression"] for part in alarm["Metrics"] if "Expression" in part)
    return str(expression)


def _about(metric: dict[str, Any]) -> dict[str, Any]:
    return {entry["Name"]: entry["Value"] for entry in metric["Dimensions"]}


def test_the_alarms_are_those_that_have_a_page(deployed: Template) -> None:
    found = {name: alarm["Properties"]["AlarmDescription"] for name, alarm in deployed.of_type(ALARM).items()}

    assert len(found) == len(ALARMS)
    for name in ALARMS:
        description = found[deployed.named(ALARM, f"Alarms{name}")]
        assert description.endswith(f" Runbook: docs/runbooks/{page_of(name)}")
    assert {file.name for file in RUNBOOKS.glob("*.md")} == {page_of(name) for name in ALARMS}


def test_the_local_stage_has_the_alarms_that_the_emulator_takes(templates: dict[str, Template]) -> None:
    local = templates["local"]

    for name in ALARMS - ON_EXPRESSIONS:
        assert "MetricName" in _alarm(local, name), name
    assert len(local.of_type(ALARM)) == len(ALARMS - ON_EXPRESSIONS)


@pytest.mark.parametrize("name", sorted(ALARMS))
def test_a_page_says_what_to_do_with_commands(name: str) -> None:
    text = (RUNBOOKS / page_of(name)).read_text()
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    first = text[text.index(HEADINGS[1]) : text.index(HEADINGS[2])]

    assert text.startswith(f"# {name}\n")
    assert headings == HEADINGS
    assert "```sh\n" in first, "what to look at first is a command"


def test_the_outputs_that_pages_name_exist(deployed: Template) -> None:
    named = {
        name for page in RUNBOOKS.glob("*.md") for name in re.findall(r"\$\(output (\w+)\)", page.read_text())
    }

    assert named
    assert named <= set(deployed.body["Outputs"])


def test_the_filter_of_server_errors_finds_them_in_the_access_log(deployed: Template) -> None:
    """A number never matches a quoted one; text with an asterisk is how AWS documents a match by prefix."""
    written = deployed.one("AWS::ApiGateway::Stage", "Rest")["AccessLogSetting"]["Format"]
    page = (RUNBOOKS / page_of("ApiServerErrors")).read_text()
    (field, pattern) = re.findall(r"'\{ \$\.(\w+) = \"(\S+)\" \}'", page)[0]

    def found(status: int) -> bool:
        line = json.loads(written.replace("$context.status", str(status)))
        return fnmatchcase(line[field], pattern)

    assert [status for status in (202, 302, 404, 429, 500, 502, 503, 504) if found(status)] == [
        500,
        502,
        503,
        504,
    ]


def test_every_alarm_tells_the_topic_when_it_comes_and_goes(deployed: Template) -> None:
    topic = {"Ref": deployed.named("AWS::SNS::Topic", "AlarmTopic")}

    for name in ALARMS:
        alarm = _alarm(deployed, name)
        assert alarm["AlarmActions"] == alarm["OKActions"] == [topic]


def test_an_idle_system_raises_no_alarm(deployed: Template) -> None:
    """Idle, every measure is missing or zero, and the reconciler passes."""
    for name in ALARMS - {"ReconcilerHeartbeat"}:
        alarm = _alarm(deployed, name)
        assert alarm["TreatMissingData"] == "notBreaching", name
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold", name
        assert alarm["Threshold"] > 0, name


def test_silence_of_the_reconciler_is_an_alarm(deployed: Template) -> None:
    alarm = _alarm(deployed, "ReconcilerHeartbeat")
    metrics = _metrics(alarm)
    reconciler = {"FunctionName": {"Ref": deployed.named(FUNCTION, "JobReconciler")}}

    assert alarm["TreatMissingData"] == "breaching"
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
    assert _expression(alarm) == "runs - crashes"
    assert {name: _about(metric) for name, metric in metrics.items()} == {
        "Invocations": reconciler,
        "Errors": reconciler,
    }


@pytest.mark.parametrize(
    ("name", "metric", "statistic", "threshold"),
    [
        ("OldestMessage", "ApproximateAgeOfOldestMessage", "Maximum", 300),
        ("OutboxAge", "IteratorAge", "Maximum", 300_000),
        ("LostRelayFailures", "DestinationDeliveryFailures", "Sum", 1),
        ("OldestOpenJob", names.OLDEST_OPEN_JOB_AGE, "Maximum", 1_800),
        ("FirstDeadLetter", "ApproximateNumberOfMessagesVisible", "Maximum", 1),
        ("WorkerThrottles", "Throttles", "Sum", 1),
        ("ReconcilerFailures", names.RECONCILER_FAILURES, "Sum", 1),
        ("ApiServerErrors", "5XXError", "Sum", 5),
    ],
)
def test_an_alarm_on_one_measure(
    name: str, metric: str, statistic: str, threshold: int, deployed: Template
) -> None:
    alarm = _alarm(deployed, name)
    ((found, measure),) = _metrics(alarm).items()

    assert (found, measure["Stat"], alarm["Threshold"]) == (metric, statistic, threshold)


@pytest.mark.parametrize(
    ("name", "parts", "threshold"),
    [
        ("RelayFailures", {names.RELAY_FAILURES, "Errors"}, 1),
        ("WorkerErrors", {names.DELIVERIES_BROKEN, "Errors"}, 3),
        ("Rescues", {names.JOBS_RESCUED, names.JOBS_REPUBLISHED}, 5),
        (
            "FirstUndelivered",
            {
                "ApproximateNumberOfMessagesVisible",
                "ApproximateNumberOfMessagesNotVisible",
                names.JOBS_REQUEUED,
            },
            1,
        ),
        (
            "FirstRelayFailure",
            {"ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesNotVisible"},
            1,
        ),
    ],
)
def test_an_alarm_on_a_sum_counts_silence_as_nothing(
    name: str, parts: set[str], threshold: int, deployed: Template
) -> None:
    alarm = _alarm(deployed, name)

    assert set(_metrics(alarm)) == parts
    assert alarm["Threshold"] == threshold
    assert all(re.fullmatch(r"FILL\(\w+, 0\)", part) for part in _expression(alarm).split(" + "))
    assert len(_expression(alarm).split(" + ")) == len(parts)


@pytest.mark.parametrize(
    ("name", "queue"),
    [
        ("OldestMessage", "Work"),
        ("FirstDeadLetter", "DeadLetter"),
        ("FirstUndelivered", "Undelivered"),
        ("FirstRelayFailure", "RelayFailure"),
    ],
)
def test_a_queues_alarm_watches_that_queue(name: str, queue: str, deployed: Template) -> None:
    expected = {"Fn::GetAtt": [deployed.named(QUEUE, f"Queues{queue}"), "QueueName"]}
    queues = [
        metric for metric in _metrics(_alarm(deployed, name)).values() if metric["Namespace"] == "AWS/SQS"
    ]

    assert queues
    assert all(_about(metric) == {"QueueName": expected} for metric in queues)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("OutboxAge", "OutboxRelay"),
        ("LostRelayFailures", "OutboxRelay"),
        ("WorkerThrottles", "ThumbnailWorker"),
    ],
)
def test_a_functions_alarm_watches_that_function(name: str, function: str, deployed: Template) -> None:
    ((_, metric),) = _metrics(_alarm(deployed, name)).items()

    assert metric["Namespace"] == "AWS/Lambda"
    assert _about(metric) == {"FunctionName": {"Ref": deployed.named(FUNCTION, function)}}


@pytest.mark.parametrize(
    ("metric", "service"),
    [
        (names.OLDEST_OPEN_JOB_AGE, "job_reconciler"),
        (names.JOBS_RESCUED, "job_reconciler"),
        (names.JOBS_REPUBLISHED, "job_reconciler"),
        (names.JOBS_REQUEUED, "job_reconciler"),
        (names.RECONCILER_FAILURES, "job_reconciler"),
        (names.RELAY_FAILURES, "outbox_relay"),
        (names.DELIVERIES_BROKEN, "thumbnail_worker"),
    ],
)
@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_our_own_measures_are_read_as_the_function_emits_them(
    metric: str, service: str, stage: str, templates: dict[str, Template]
) -> None:
    deployed = templates[stage]
    (found,) = (metrics[metric] for name in ALARMS if metric in (metrics := _metrics(_alarm(deployed, name))))

    assert (found["Namespace"], _about(found)) == (names.NAMESPACE, {"service": service, "stage": stage})
    assert f"names.{_constant(metric)}" in (ROOT / "functions" / service / "handler.py").read_text()


def _constant(metric: str) -> str:
    return next(name for name, value in vars(names).items() if value == metric)


def test_server_errors_are_those_of_this_stages_api(templates: dict[str, Template]) -> None:
    assert _about(_alarm(templates["prod"], "ApiServerErrors")) == {"ApiName": "thumbline-prod"}


def test_the_topic_is_encrypted_with_a_key_that_cloudwatch_may_use(deployed: Template) -> None:
    topic = deployed.one("AWS::SNS::Topic", "AlarmTopic")
    key = deployed.one("AWS::KMS::Key", "AlarmTopic")
    key_statements = key["KeyPolicy"]["Statement"]
    (topic_policy,) = deployed.of_type("AWS::SNS::TopicPolicy").values()
    topic_statements = topic_policy["Properties"]["PolicyDocument"]["Statement"]

    assert topic["KmsMasterKeyId"] == deployed.arn_of("AWS::KMS::Key", "AlarmTopic")
    assert key["EnableKeyRotation"] is True
    assert _cloudwatch_may(key_statements) == ["kms:Decrypt", "kms:GenerateDataKey*"]
    assert _cloudwatch_may(topic_statements) == "sns:Publish"
    assert any(
        statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        for statement in topic_statements
    )


def _cloudwatch_may(statements: list[dict[str, Any]]) -> Any:
    (found,) = (
        statement
        for statement in statements
        if statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    )
    assert found["Effect"] == "Allow"
    assert found["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    assert json.dumps(found["Condition"]["ArnLike"]).endswith(':alarm:*"]]}}')
    return found["Action"]


def test_nobody_is_subscribed_unless_an_address_is_given(deployed: Template) -> None:
    assert deployed.of_type("AWS::SNS::Subscription") == {}
    assert stage_settings("prod").alarm_email is None


def test_the_dashboard_reads_like_a_jobs_life(deployed: Template) -> None:
    dashboard = deployed.one("AWS::CloudWatch::Dashboard", "Dashboard")
    parts = dashboard["DashboardBody"]["Fn::Join"][1]
    text = "".join(part if isinstance(part, str) else "REFERENCE" for part in parts)
    widgets = json.loads(text)["widgets"]
    headings = [
        (widget["y"], widget["properties"]["markdown"].partition(":")[0])
        for widget in widgets
        if widget["type"] == "text"
    ]
    shown = json.dumps(widgets)

    assert widgets[0]["type"] == "alarm"
    assert len(widgets[0]["properties"]["alarms"]) == len(ALARMS)
    assert [heading for _, heading in sorted(headings)] == [
        "## 1 · Accepted",
        "## 2 · Published",
        "## 3 · Worked on",
        "## 4 · Ended",
        "## 5 · Repaired",
    ]
    watched = {metric for alarm in ALARMS for metric in _metrics(_alarm(deployed, alarm))}
    assert {metric for metric in watched if f'"{metric}"' not in shown} == set(), "watched, but shown nowhere"
    ours = {value for name, value in vars(names).items() if name.isupper() and name != "NAMESPACE"}
    assert {metric for metric in ours if f'"{metric}"' not in shown} == set(), "measured, but shown nowhere"
