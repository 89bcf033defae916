"""thumbnail_worker: claims a job, renders it, stores the thumbnails, completes the row, acknowledges last."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.parts.acknowledged import acknowledge
from infra.parts.bucket import ImageBucket
from infra.parts.function import FunctionFrame, PythonFunction, allow
from infra.parts.queues import Queues
from infra.parts.tables import Tables
from infra.topology import Topology
from thumbline.domain import schema
from thumbline.settings import WorkerSettings


class ThumbnailWorker(PythonFunction):
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
        imaging_layer: lambda_.ILayerVersion,
    ) -> None:
        settings = frame.settings
        environment = WorkerSettings(
            jobs_table=tables.jobs.table_name,
            bucket=images.bucket.bucket_name,
            work_queue_url=queues.work.queue_url,
            dead_letter_queue_url=queues.dead_letter.queue_url,
            timings=topology.timings,
            beat_call_seconds=topology.beat_call_seconds,
            limits=settings.limits,
            stage=settings.name,
        ).to_env()
        super().__init__(
            scope,
            construct_id,
            frame=frame,
            name="thumbnail_worker",
            environment=environment,
            statements=[
                # A refused update shows the row; only a message that cannot be understood needs a look first.
                allow(["dynamodb:GetItem", "dynamodb:UpdateItem"], tables.jobs.table_arn),
                allow(["s3:GetObject"], images.originals_arn),
                allow(["s3:PutObject"], images.thumbnails_arn),
                _tells_a_missing_original(images.bucket.bucket_arn),
                allow(
                    [
                        "sqs:ReceiveMessage",
                        "sqs:DeleteMessage",
                        "sqs:ChangeMessageVisibility",
                        "sqs:GetQueueAttributes",
                    ],
                    queues.work.queue_arn,
                ),
                allow(["sqs:SendMessage"], queues.dead_letter.queue_arn),
            ],
            timeout_seconds=topology.timings.function_timeout_seconds,
            memory_mb=topology.worker_memory_mb,
            extra_layers=[imaging_layer],
            reserved_concurrency=settings.worker_reserved_concurrency,
            wide_resources=images.accepted_prefixes(images.originals_arn, images.thumbnails_arn),
            no_dead_letter_target="Its mapping reads a queue, whose redrive policy keeps the undelivered.",
        )
        mapping = self.function.add_event_source_mapping(
            "Work",
            event_source_arn=queues.work.queue_arn,
            batch_size=topology.work_batch_size,
            report_batch_item_failures=True,
            # Not reserved concurrency alone: throttled polls would spend receive counts.
            max_concurrency=settings.worker_max_concurrency,
        )
        acknowledge(
            mapping,
            {
                "Serverless::Serverless-LambdaEventSourceMappingDestination": "Lambda offers failure"
                " destinations for streams only; a queue has its redrive policy."
            },
        )


def _tells_a_missing_original(bucket_arn: str) -> iam.PolicyStatement:
    """S3 answers 404 for a missing key only to those who may list the bucket, and 403 to all others.

    `IfExists`, because reading an object does not have to carry a prefix to compare.
    """
    return iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[bucket_arn],
        conditions={"StringLikeIfExists": {"s3:prefix": f"{schema.ORIGINALS_PREFIX}*"}},
    )
