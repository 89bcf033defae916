"""ingest_api: answers clients. It reads and writes the tables and the bucket, and cannot reach any queue."""

from __future__ import annotations

from constructs import Construct

from infra.parts.bucket import ImageBucket
from infra.parts.function import FunctionFrame, PythonFunction, allow
from infra.parts.tables import Tables
from infra.topology import Topology
from thumbline.settings import IngestSettings


class IngestApi(PythonFunction):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        frame: FunctionFrame,
        topology: Topology,
        tables: Tables,
        images: ImageBucket,
    ) -> None:
        settings = frame.settings
        environment = IngestSettings(
            jobs_table=tables.jobs.table_name,
            idempotency_table=tables.idempotency.table_name,
            bucket=images.bucket.bucket_name,
            owner_source=settings.owner_source,
            presets=settings.presets,
            inline_limit_bytes=settings.inline_limit_bytes,
            deadline_seconds=topology.timings.deadline_seconds,
            queued_patience_seconds=topology.timings.queued_patience_seconds,
            idempotency_seconds=topology.idempotency_seconds,
            retry_after_seconds=topology.retry_after_seconds,
            signed_url_seconds=topology.signed_url_seconds,
        ).to_env()
        super().__init__(
            scope,
            construct_id,
            frame=frame,
            name="ingest_api",
            environment=environment,
            statements=[
                # The acceptance transaction consists of puts.
                allow(
                    ["dynamodb:GetItem", "dynamodb:PutItem"],
                    tables.jobs.table_arn,
                    tables.idempotency.table_arn,
                ),
                allow(["s3:PutObject"], images.originals_arn),
                # A signed link carries the permission of its signer.
                allow(["s3:GetObject"], images.thumbnails_arn),
            ],
            timeout_seconds=topology.ingest_timeout_seconds,
            memory_mb=topology.function_memory_mb,
            wide_resources=images.accepted_prefixes(images.originals_arn, images.thumbnails_arn),
            no_dead_letter_target="API Gateway calls it synchronously: a failed call is the client's answer.",
        )
