"""job_reconciler: once a minute closes the gaps that no broker can."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.parts.acknowledged import acknowledge
from infra.parts.bucket import ImageBucket
from infra.parts.function import FunctionFrame, PythonFunction, allow
from infra.parts.queues import Queues
from infra.parts.tables import Tables
from infra.topology import SCHEDULE_PERIOD_SECONDS, Topology
from thumbline.domain import schema
from thumbline.domain.snapshot import SNAPSHOT_KEY
from thumbline.settings import ReconcilerSettings

_NEXT_TICK = (
    "A tick carries nothing that could be lost: the next one, a minute later, does all that this one would"
    " have done, and an alarm on missing passes says when ticks stop."
)


class JobReconciler(PythonFunction):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        frame: FunctionFrame,
        topology: Topology,
        tables: Tables,
        images: ImageBucket,
        queues: Queues,
    ) -> None:
        environment = ReconcilerSettings(
            jobs_table=tables.jobs.table_name,
            bucket=images.bucket.bucket_name,
            work_queue_url=queues.work.queue_url,
            undelivered_queue_url=queues.undelivered.queue_url,
            relay_failure_queue_url=queues.relay_failure.queue_url,
            timings=topology.timings,
            max_jobs_per_run=topology.max_jobs_per_run,
            stage=topology.settings.name,
        ).to_env()
        super().__init__(
            scope,
            construct_id,
            frame=frame,
            name="job_reconciler",
            environment=environment,
            statements=[
                allow(["dynamodb:Query"], tables.due_index_arn),
                allow(
                    ["dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"],
                    tables.jobs.table_arn,
                ),
                # The depth of the backlog tells a lost message from one that waits its turn.
                allow(["sqs:SendMessage", "sqs:GetQueueAttributes"], queues.work.queue_arn),
                allow(
                    ["sqs:ReceiveMessage", "sqs:DeleteMessage"],
                    queues.undelivered.queue_arn,
                    queues.relay_failure.queue_arn,
                ),
                # Where the relay gave up, the stream says which rows it was about.
                allow(["dynamodb:GetShardIterator", "dynamodb:GetRecords"], tables.jobs_stream_arn),
                _writes_the_snapshot(tables.jobs.table_arn),
                allow(["s3:DeleteObject"], images.originals_arn, images.thumbnails_arn),
                _lists_by_prefix(images.bucket.bucket_arn),
            ],
            timeout_seconds=topology.reconciler_timeout_seconds,
            memory_mb=topology.reconciler_memory_mb,
            wide_resources=images.accepted_prefixes(images.originals_arn, images.thumbnails_arn),
            no_dead_letter_target=_NEXT_TICK,
        )
        # No second try of a pass: the next one comes within the minute.
        self.function.configure_async_invoke(
            retry_attempts=0, max_event_age=Duration.seconds(SCHEDULE_PERIOD_SECONDS)
        )
        rule = events.Rule(
            self,
            "EveryMinute",
            schedule=events.Schedule.rate(Duration.seconds(SCHEDULE_PERIOD_SECONDS)),
            targets=[targets.LambdaFunction(self.function)],
        )
        acknowledge(rule, {"Serverless::Serverless-EventBusDLQ": _NEXT_TICK})
        acknowledge(self.function, {"Serverless::Serverless-LambdaAsyncFailureDestination": _NEXT_TICK})


def _writes_the_snapshot(table_arn: str) -> iam.PolicyStatement:
    """A whole item is put under one key only; jobs are changed by conditional updates."""
    return iam.PolicyStatement(
        actions=["dynamodb:PutItem"],
        resources=[table_arn],
        conditions={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [SNAPSHOT_KEY]}},
    )


def _lists_by_prefix(bucket_arn: str) -> iam.PolicyStatement:
    prefixes = [f"{schema.ORIGINALS_PREFIX}*", f"{schema.THUMBNAILS_PREFIX}*"]
    return iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[bucket_arn],
        conditions={"StringLike": {"s3:prefix": prefixes}},
    )
