"""Every box of the picture, composed once; stages differ only in their settings."""

from __future__ import annotations

from aws_cdk import CfnOutput, Stack, Tags
from constructs import Construct

from infra.assets import Assets
from infra.parts.alarm_topic import AlarmTopic
from infra.parts.alarms import Alarms, Watched
from infra.parts.bucket import ImageBucket
from infra.parts.dashboard import JobsDashboard
from infra.parts.function import FunctionFrame
from infra.parts.ingest_api import IngestApi
from infra.parts.job_reconciler import JobReconciler
from infra.parts.layers import Layers
from infra.parts.outbox_relay import OutboxRelay
from infra.parts.queues import Queues
from infra.parts.rest_api import RestApi
from infra.parts.tables import Tables
from infra.parts.thumbnail_worker import ThumbnailWorker
from infra.parts.token_authorizer import TokenAuthorizer
from infra.settings import StageSettings
from infra.topology import topology_of


class ThumblineStack(Stack):
    """client -> API -> ingest_api -> jobs table -> stream -> outbox_relay -> work queue -> thumbnail_worker,
    with job_reconciler closing what the brokers leave open.
    """

    def __init__(self, scope: Construct, *, settings: StageSettings, assets: Assets) -> None:
        super().__init__(
            scope,
            f"Thumbline-{settings.name.capitalize()}",
            description=f"Thumbline, an asynchronous thumbnail service (stage {settings.name})",
            termination_protection=settings.retains_data,
            analytics_reporting=False,
        )
        topology = topology_of(settings)
        tables = Tables(self, "Tables", settings=settings)
        images = ImageBucket(self, "Bucket", settings=settings)
        queues = Queues(self, "Queues", topology=topology)
        layers = Layers(self, "Layers", settings=settings, assets=assets)
        frame = FunctionFrame(settings=settings, code=assets.functions, common_layers=layers.common)

        ingest = IngestApi(self, "IngestApi", frame=frame, topology=topology, tables=tables, images=images)
        relay = OutboxRelay(self, "OutboxRelay", frame=frame, topology=topology, tables=tables, queues=queues)
        worker = ThumbnailWorker(
            self,
            "ThumbnailWorker",
            frame=frame,
            topology=topology,
            tables=tables,
            images=images,
            queues=queues,
            imaging_layer=layers.imaging,
        )
        reconciler = JobReconciler(
            self, "JobReconciler", frame=frame, topology=topology, tables=tables, images=images, queues=queues
        )
        authorizer = None
        if settings.identity == "token":
            authorizer = TokenAuthorizer(
                self, "TokenAuthorizer", frame=frame, topology=topology, tables=tables
            ).authorizer
        rest_api = RestApi(self, "Rest", settings=settings, ingest=ingest.function, authorizer=authorizer)
        watched = Watched(
            queues=queues,
            relay=relay.function,
            worker=worker.function,
            reconciler=reconciler.function,
            api=rest_api.api,
        )
        topic = AlarmTopic(self, "AlarmTopic", settings=settings)
        alarms = Alarms(self, "Alarms", topology=topology, watched=watched, topic=topic.topic)
        JobsDashboard(self, "Dashboard", stage=settings.name, watched=watched, alarms=alarms.all)
        for name, value in {"project": "thumbline", "stage": settings.name}.items():
            Tags.of(self).add(name, value)

        for name, value in {
            "ApiUrl": rest_api.url,
            "ApiId": rest_api.api.rest_api_id,
            "Identity": settings.identity,
            "JobsTableName": tables.jobs.table_name,
            "IdempotencyTableName": tables.idempotency.table_name,
            "AccessTableName": tables.access.table_name,
            "BucketName": images.bucket.bucket_name,
            "WorkQueueUrl": queues.work.queue_url,
            "UndeliveredQueueUrl": queues.undelivered.queue_url,
            "DeadLetterQueueUrl": queues.dead_letter.queue_url,
            "RelayFailureQueueUrl": queues.relay_failure.queue_url,
            "AlarmTopicArn": topic.topic.topic_arn,
            "IngestApiFunctionName": ingest.function.function_name,
            "OutboxRelayFunctionName": relay.function.function_name,
            "ThumbnailWorkerFunctionName": worker.function.function_name,
            "JobReconcilerFunctionName": reconciler.function.function_name,
        }.items():
            CfnOutput(self, name, value=value)
