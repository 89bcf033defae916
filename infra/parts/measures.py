"""What alarms and dashboard read, once: our own metrics, and those of the services around our functions.

They carry no label: with one, CloudFormation writes an alarm in the form of an expression.
"""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from infra.topology import MINUTE_SECONDS
from thumbline import metrics as names

MINUTE = Duration.seconds(MINUTE_SECONDS)
FIVE_MINUTES = Duration.seconds(5 * MINUTE_SECONDS)
QUARTER_OF_AN_HOUR = Duration.seconds(15 * MINUTE_SECONDS)


def emitted(
    stage: str, name: str, service: str, *, statistic: str = "Sum", period: Duration = MINUTE
) -> cloudwatch.Metric:
    """One of `thumbline.metrics`, as the function `service` of the stage emits it."""
    return cloudwatch.Metric(
        namespace=names.NAMESPACE,
        metric_name=name,
        dimensions_map={"service": service, "stage": stage},
        statistic=statistic,
        period=period,
    )


def visible(queue: sqs.IQueue) -> cloudwatch.Metric:
    return queue.metric_approximate_number_of_messages_visible(period=MINUTE, statistic="Maximum")


def in_flight(queue: sqs.IQueue) -> cloudwatch.Metric:
    return queue.metric_approximate_number_of_messages_not_visible(period=MINUTE, statistic="Maximum")


def oldest_message(queue: sqs.IQueue) -> cloudwatch.Metric:
    return queue.metric_approximate_age_of_oldest_message(period=MINUTE, statistic="Maximum")


def errors(function: lambda_.IFunction, *, period: Duration = MINUTE) -> cloudwatch.Metric:
    """Invocations that raised, timed out or ran out of memory."""
    return function.metric_errors(period=period, statistic="Sum")


def throttles(function: lambda_.IFunction) -> cloudwatch.Metric:
    return function.metric_throttles(period=MINUTE, statistic="Sum")


def iterator_age(function: lambda_.IFunction) -> cloudwatch.Metric:
    """Milliseconds between a stream record's writing and its reading."""
    return function.metric("IteratorAge", period=MINUTE, statistic="Maximum")


def lost_to_destination(function: lambda_.IFunction) -> cloudwatch.Metric:
    """What a stream mapping gave up on and could not send to its on-failure destination either.
    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html"""
    return function.metric("DestinationDeliveryFailures", period=MINUTE, statistic="Sum")


def total(label: str, *, period: Duration = MINUTE, **parts: cloudwatch.IMetric) -> cloudwatch.MathExpression:
    """The sum of metrics that may each be silent: no data counts as none of it."""
    return cloudwatch.MathExpression(
        expression=" + ".join(f"FILL({part}, 0)" for part in parts),
        using_metrics=dict(parts),
        period=period,
        label=label,
    )
