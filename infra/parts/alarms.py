"""Alarms on what SQS itself measures. An idle, drained system raises none of them."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.parts.queues import Queues
from infra.topology import MINUTE_SECONDS, Topology


class Alarms(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, topology: Topology, queues: Queues) -> None:
        super().__init__(scope, construct_id)
        period = Duration.seconds(MINUTE_SECONDS)
        self._alarm(
            "OldestMessage",
            queues.work.metric_approximate_age_of_oldest_message(period=period, statistic="Maximum"),
            description="Messages wait too long in the work queue: workers fail, or are too few.",
            threshold=topology.oldest_message_alarm_seconds,
            # One late minute is no trend.
            evaluation_periods=3,
        )
        self._first_message(
            "FirstDeadLetter",
            queues.dead_letter,
            description="A job has spent all its attempts: look at its copy in the dead-letter queue.",
        )
        self._first_message(
            "FirstUndelivered",
            queues.undelivered,
            description="SQS gave up on a message: deliveries fail before a job can be claimed.",
        )

    def _first_message(self, construct_id: str, queue: sqs.Queue, *, description: str) -> None:
        metric = queue.metric_approximate_number_of_messages_visible(
            period=Duration.seconds(MINUTE_SECONDS), statistic="Maximum"
        )
        self._alarm(construct_id, metric, description=description, threshold=1, evaluation_periods=1)

    def _alarm(
        self,
        construct_id: str,
        metric: cloudwatch.Metric,
        *,
        description: str,
        threshold: int,
        evaluation_periods: int,
    ) -> None:
        cloudwatch.Alarm(
            self,
            construct_id,
            metric=metric,
            alarm_description=description,
            threshold=threshold,
            evaluation_periods=evaluation_periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            # SQS stops reporting on queues that nobody uses.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
