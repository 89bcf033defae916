"""Alarms, outputs and names of the whole stack."""

from __future__ import annotations

from typing import Any

from tests.infra.template import Template

ALARM, QUEUE = "AWS::CloudWatch::Alarm", "AWS::SQS::Queue"

OUTPUTS = {
    "ApiUrl",
    "ApiId",
    "JobsTableName",
    "IdempotencyTableName",
    "BucketName",
    "WorkQueueUrl",
    "UndeliveredQueueUrl",
    "DeadLetterQueueUrl",
    "RelayFailureQueueUrl",
    "IngestApiFunctionName",
    "OutboxRelayFunctionName",
    "ThumbnailWorkerFunctionName",
    "JobReconcilerFunctionName",
}


def test_the_outputs_are_those_that_tools_read(any_stage: Template) -> None:
    assert set(any_stage.body["Outputs"]) == OUTPUTS


def test_a_backlog_that_ages_raises_an_alarm(any_stage: Template) -> None:
    alarm = any_stage.one(ALARM, "AlarmsOldestMessage")

    assert alarm["MetricName"] == "ApproximateAgeOfOldestMessage"
    assert alarm["Statistic"] == "Maximum"
    assert alarm["Threshold"] == 300
    assert _queue(alarm) == any_stage.named(QUEUE, "QueuesWork")


def test_the_first_message_in_either_queue_of_last_resort_raises_an_alarm(any_stage: Template) -> None:
    for name, queue in (("FirstDeadLetter", "QueuesDeadLetter"), ("FirstUndelivered", "QueuesUndelivered")):
        alarm = any_stage.one(ALARM, f"Alarms{name}")
        assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
        assert (alarm["Threshold"], alarm["EvaluationPeriods"], alarm["Period"]) == (1, 1, 60)
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
        assert _queue(alarm) == any_stage.named(QUEUE, queue)


def test_an_idle_system_raises_no_alarm(any_stage: Template) -> None:
    alarms = any_stage.of_type(ALARM)

    assert len(alarms) == 3
    assert {alarm["Properties"]["TreatMissingData"] for alarm in alarms.values()} == {"notBreaching"}


def _queue(alarm: dict[str, Any]) -> str:
    (dimension,) = alarm["Dimensions"]
    assert dimension["Name"] == "QueueName"
    name: str = dimension["Value"]["Fn::GetAtt"][0]
    return name
