"""One dashboard, from top to bottom as a job lives: accepted, published, worked on, ended, repaired."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.parts import measures
from infra.parts.alarms import Watched
from thumbline import metrics as names

_WIDTH = 24
_HEIGHT = 6


class JobsDashboard(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: str,
        watched: Watched,
        alarms: Sequence[cloudwatch.Alarm],
    ) -> None:
        super().__init__(scope, construct_id)
        self._emitted = partial(measures.emitted, stage)
        self._dashboard = cloudwatch.Dashboard(self, "Jobs", default_interval=Duration.hours(3))
        self._dashboard.add_widgets(
            cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=_WIDTH, height=3)
        )
        self._accepted(watched)
        self._published(watched)
        self._worked_on(watched)
        self._ended()
        self._repaired(watched)

    def _accepted(self, watched: Watched) -> None:
        api = watched.api
        self._row(
            "1 · Accepted: a client posts a picture and gets a job",
            {
                "Requests": [
                    api.metric_count(period=measures.MINUTE, label="requests"),
                    api.metric_client_error(period=measures.MINUTE, statistic="Sum", label="4xx"),
                    api.metric_server_error(period=measures.MINUTE, statistic="Sum", label="5xx"),
                ],
                "Latency, ms": [
                    api.metric_latency(period=measures.MINUTE, statistic=statistic, label=statistic)
                    for statistic in ("p50", "p99")
                ],
                "Jobs": [
                    self._emitted(name, "ingest_api") for name in (names.JOBS_ACCEPTED, names.JOBS_REPLAYED)
                ],
            },
        )

    def _published(self, watched: Watched) -> None:
        self._row(
            "2 · Published: the outbox becomes messages",
            {
                "Age of the outbox, ms": [measures.iterator_age(watched.relay)],
                "Messages": [
                    self._emitted(name, "outbox_relay")
                    for name in (names.MESSAGES_PUBLISHED, names.DEAD_LETTERS_WRITTEN)
                ],
                "Relay failures": [
                    self._emitted(names.RELAY_FAILURES, "outbox_relay"),
                    *_troubles(watched.relay),
                    measures.lost_to_destination(watched.relay),
                ],
            },
        )

    def _worked_on(self, watched: Watched) -> None:
        worker = watched.worker
        self._row(
            "3 · Worked on: a message waits, a worker renders",
            {
                "Work queue": [
                    measures.visible(watched.queues.work),
                    measures.in_flight(watched.queues.work),
                ],
                "Age of the oldest message, s": [measures.oldest_message(watched.queues.work)],
                "Workers at once": [
                    worker.metric(
                        "ConcurrentExecutions", period=measures.MINUTE, statistic="Maximum", label="workers"
                    )
                ],
                "Batch duration, ms": [
                    worker.metric_duration(period=measures.MINUTE, statistic=statistic, label=statistic)
                    for statistic in ("p50", "p99")
                ],
                "Deliveries that did not end a job": [
                    self._emitted(name, "thumbnail_worker")
                    for name in (
                        names.DELIVERIES_BOUNCED,
                        names.DELIVERIES_SKIPPED,
                        names.LEASES_LOST,
                        names.WRITES_FENCED,
                    )
                ],
                "Worker troubles": [
                    self._emitted(names.DELIVERIES_BROKEN, "thumbnail_worker"),
                    *_troubles(worker),
                ],
            },
        )

    def _ended(self) -> None:
        self._row(
            "4 · Ended: every job, one way or the other",
            {
                "Ends": [
                    self._emitted(name, "thumbnail_worker")
                    for name in (
                        names.JOBS_SUCCEEDED,
                        names.JOBS_FAILED,
                        names.JOBS_EXHAUSTED,
                        names.JOBS_EXPIRED,
                        names.BAD_MESSAGES,
                    )
                ],
                "Attempts given back": [self._emitted(names.JOBS_RELEASED, "thumbnail_worker")],
                "Age of the oldest job, s": [
                    self._emitted(name, "job_reconciler", statistic="Maximum")
                    for name in (names.OLDEST_OPEN_JOB_AGE, names.OLDEST_QUEUED_JOB_AGE)
                ],
            },
        )

    def _repaired(self, watched: Watched) -> None:
        queues = watched.queues
        self._row(
            "5 · Repaired: what no queue closes, and what waits for a person",
            {
                "Repairs": [
                    self._emitted(name, "job_reconciler")
                    for name in (
                        names.JOBS_REPUBLISHED,
                        names.JOBS_RESCUED,
                        names.JOBS_REQUEUED,
                        names.JOBS_EXPIRED,
                        names.JOBS_EXHAUSTED,
                        names.PUBLISHES_OWED_AGAIN,
                        names.PUBLISHES_UNCONFIRMED,
                        names.ORPHANS_REMOVED,
                    )
                ],
                "Queues of last resort": [
                    measures.visible(queue).with_(label=label)
                    for label, queue in (
                        ("dead letters", queues.dead_letter),
                        ("undelivered", queues.undelivered),
                        ("relay failures", queues.relay_failure),
                    )
                ],
                "Reconciler": [
                    watched.reconciler.metric_invocations(period=measures.MINUTE, label="passes"),
                    self._emitted(names.RECONCILER_FAILURES, "job_reconciler"),
                    *_troubles(watched.reconciler),
                ],
            },
        )

    def _row(self, title: str, graphs: dict[str, list[cloudwatch.Metric]]) -> None:
        self._dashboard.add_widgets(cloudwatch.TextWidget(markdown=f"## {title}", width=_WIDTH, height=1))
        self._dashboard.add_widgets(
            *(
                cloudwatch.GraphWidget(
                    title=name,
                    left=list(metrics),
                    left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
                    width=_WIDTH // 3,
                    height=_HEIGHT,
                )
                for name, metrics in graphs.items()
            )
        )


def _troubles(function: lambda_.IFunction) -> list[cloudwatch.Metric]:
    return [measures.errors(function), measures.throttles(function)]
