"""When a person is called. Each alarm has a page in docs/runbooks; a drained, idle system raises none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.parts import measures
from infra.parts.queues import Queues
from infra.topology import Topology
from thumbline import metrics as names

RUNBOOKS = "docs/runbooks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What the alarms look at."""

    queues: Queues
    relay: lambda_.IFunction
    worker: lambda_.IFunction
    reconciler: lambda_.IFunction
    api: apigateway.RestApi


class Alarms(Construct):
    """In the order of a job's life. `all` is for the dashboard.

    The local stage leaves out those on expressions: the emulator refuses them, and has none of their metrics.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, topology: Topology, watched: Watched, topic: sns.ITopic
    ) -> None:
        super().__init__(scope, construct_id)
        self._notify = actions.SnsAction(topic)
        self._emitted = partial(measures.emitted, topology.settings.name)
        self._takes_expressions = topology.settings.name != "local"
        self.all: list[cloudwatch.Alarm] = []
        self._watch_api(topology, watched)
        self._watch_relay(topology, watched)
        self._watch_work(topology, watched)
        self._watch_last_resorts(watched.queues)
        self._watch_reconciler(topology, watched)

    def _watch_api(self, topology: Topology, watched: Watched) -> None:
        self._alarm(
            "ApiServerErrors",
            watched.api.metric_server_error(period=measures.FIVE_MINUTES, statistic="Sum"),
            description="Clients get 5xx answers: the service fails, or is too slow for API Gateway.",
            threshold=topology.server_errors_alarm_count,
        )

    def _watch_relay(self, topology: Topology, watched: Watched) -> None:
        self._alarm(
            "OutboxAge",
            measures.iterator_age(watched.relay),
            description="Accepted jobs wait in the outbox: the relay fails or is throttled.",
            threshold=1000 * topology.iterator_age_alarm_seconds,
            periods=3,
        )
        self._alarm(
            "RelayFailures",
            measures.total(
                "records not relayed",
                failed=self._emitted(names.RELAY_FAILURES, "outbox_relay"),
                crashed=measures.errors(watched.relay),
            ),
            description="The relay cannot publish: a queue refuses messages, or the relay itself fails.",
            threshold=1,
            periods=5,
            breaching=3,
        )
        self._alarm(
            "LostRelayFailures",
            measures.lost_to_destination(watched.relay),
            description="The relay gave up on stream records that no queue holds now: copies may be missing.",
            threshold=1,
        )

    def _watch_work(self, topology: Topology, watched: Watched) -> None:
        self._alarm(
            "OldestMessage",
            measures.oldest_message(watched.queues.work),
            description="Messages wait too long in the work queue: workers fail, or are too few.",
            threshold=topology.oldest_message_alarm_seconds,
            # One late minute is no trend.
            periods=3,
        )
        self._alarm(
            "WorkerErrors",
            measures.total(
                "worker errors",
                period=measures.FIVE_MINUTES,
                crashed=measures.errors(watched.worker, period=measures.FIVE_MINUTES),
                broken=self._emitted(
                    names.DELIVERIES_BROKEN, "thumbnail_worker", period=measures.FIVE_MINUTES
                ),
            ),
            description="Workers crash, time out or meet errors that nobody foresaw.",
            threshold=topology.worker_errors_alarm_count,
        )
        self._alarm(
            "WorkerThrottles",
            measures.throttles(watched.worker),
            description="Lambda refuses to run workers: the account's or the worker's concurrency is spent.",
            threshold=1,
            periods=5,
            breaching=3,
        )

    def _watch_last_resorts(self, queues: Queues) -> None:
        self._alarm(
            "FirstDeadLetter",
            measures.visible(queues.dead_letter),
            description="A job has spent all its attempts: look at its copy in the dead-letter queue.",
            threshold=1,
        )
        # What the reconciler cannot heal it holds, so it is mostly in flight; what it heals within the minute
        # may never be counted as visible.
        self._alarm(
            "FirstUndelivered",
            measures.total(
                "undelivered messages",
                waiting=measures.visible(queues.undelivered),
                held=measures.in_flight(queues.undelivered),
                healed=self._emitted(names.JOBS_REQUEUED, "job_reconciler"),
            ),
            description="SQS gave up on a message: deliveries fail before a job can be claimed.",
            threshold=1,
        )
        self._alarm(
            "FirstRelayFailure",
            measures.total(
                "stream records given up",
                waiting=measures.visible(queues.relay_failure),
                held=measures.in_flight(queues.relay_failure),
            ),
            description="The relay gave up on a stream record: the reconciler publishes what it held.",
            threshold=1,
        )

    def _watch_reconciler(self, topology: Topology, watched: Watched) -> None:
        self._alarm(
            "OldestOpenJob",
            self._emitted(names.OLDEST_OPEN_JOB_AGE, "job_reconciler", statistic="Maximum"),
            description="A job stays open although every repair had its time.",
            threshold=topology.oldest_open_job_alarm_seconds,
            periods=3,
        )
        self._alarm(
            "Rescues",
            measures.total(
                "rescues",
                period=measures.QUARTER_OF_AN_HOUR,
                rescued=self._emitted(
                    names.JOBS_RESCUED, "job_reconciler", period=measures.QUARTER_OF_AN_HOUR
                ),
                republished=self._emitted(
                    names.JOBS_REPUBLISHED, "job_reconciler", period=measures.QUARTER_OF_AN_HOUR
                ),
            ),
            description="The reconciler carries jobs that outbox and queue should carry.",
            threshold=topology.rescues_alarm_count,
        )
        self._alarm(
            "ReconcilerFailures",
            self._emitted(names.RECONCILER_FAILURES, "job_reconciler"),
            description="Parts of the reconciler's passes fail: a table, queue or bucket refuses it.",
            threshold=1,
            periods=5,
            breaching=3,
        )
        self._alarm(
            "ReconcilerHeartbeat",
            cloudwatch.MathExpression(
                expression="runs - crashes",
                using_metrics={
                    "runs": watched.reconciler.metric_invocations(period=measures.MINUTE, statistic="Sum"),
                    "crashes": measures.errors(watched.reconciler),
                },
                period=measures.MINUTE,
                label="finished passes",
            ),
            description="The reconciler does not finish its passes: nothing heals what the queues lose.",
            threshold=1,
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            periods=5,
            # Silence is the very thing to notice.
            missing=cloudwatch.TreatMissingData.BREACHING,
        )

    def _alarm(
        self,
        construct_id: str,
        metric: cloudwatch.IMetric,
        *,
        description: str,
        threshold: int,
        periods: int = 1,
        breaching: int | None = None,
        comparison: cloudwatch.ComparisonOperator = (
            cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        ),
        # Services stop reporting on what nobody uses.
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """`breaching` of `periods` periods raise it; all of them where it is None."""
        if isinstance(metric, cloudwatch.MathExpression) and not self._takes_expressions:
            return
        alarm = cloudwatch.Alarm(
            self,
            construct_id,
            metric=metric,
            alarm_description=f"{description} Runbook: {RUNBOOKS}/{page_of(construct_id)}",
            threshold=threshold,
            evaluation_periods=periods,
            datapoints_to_alarm=breaching,
            comparison_operator=comparison,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(self._notify)
        alarm.add_ok_action(self._notify)
        self.all.append(alarm)


def page_of(alarm: str) -> str:
    """FirstDeadLetter -> first-dead-letter.md."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", alarm).lower() + ".md"
