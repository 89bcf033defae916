"""ingest_api: answers clients. It reads and writes the tables and the bucket, and cannot reach any queue."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.parts.bucket import ImageBucket
from infra.parts.function import FunctionFrame, PythonFunction, allow
from infra.parts.tables import Tables
from infra.topology import Topology
from thumbline.domain.access import QUOTA_PREFIX, SECRET_PREFIX
from thumbline.domain.schema import ORIGINALS_PREFIX, THUMBNAILS_PREFIX
from thumbline.domain.uploads import UPLOADS_PREFIX
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
            access_table=tables.access.table_name,
            bucket=images.bucket.bucket_name,
            owner_source=settings.identity,
            presets=settings.presets,
            inline_limit_bytes=settings.inline_limit_bytes,
            upload_limit_bytes=settings.upload_limit_bytes,
            requests_per_second=settings.owner_requests_per_second,
            max_open_jobs=settings.owner_open_jobs,
            timings=topology.timings,
            idempotency_seconds=topology.idempotency_seconds,
            retry_after_seconds=topology.retry_after_seconds,
            signed_url_seconds=topology.signed_url_seconds,
            stage=settings.name,
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
                # The rest of the jobs table's life that clients begin: delete, and their lists.
                allow(["dynamodb:UpdateItem"], tables.jobs.table_arn),
                allow(["dynamodb:Query"], tables.owner_index_arn),
                *_access_statements(tables),
                # A signed link or form carries the permission of its signer. An upload is read to be copied.
                allow(["s3:PutObject"], images.originals_arn, images.uploads_arn),
                allow(["s3:GetObject"], images.thumbnails_arn, images.uploads_arn),
                *_removal_statements(images),
            ],
            timeout_seconds=topology.ingest_timeout_seconds,
            memory_mb=topology.function_memory_mb,
            wide_resources=images.accepted_prefixes(
                images.originals_arn, images.thumbnails_arn, images.uploads_arn
            ),
            no_dead_letter_target="API Gateway calls it synchronously: a failed call is the client's answer.",
        )


def _access_statements(tables: Tables) -> list[iam.PolicyStatement]:
    """Counts requests and keeps the secret that seals cursors; it cannot touch a token."""
    count = allow(["dynamodb:UpdateItem"], tables.access.table_arn)
    count.add_condition("ForAllValues:StringLike", {"dynamodb:LeadingKeys": [f"{QUOTA_PREFIX}*"]})
    keep = allow(["dynamodb:GetItem", "dynamodb:PutItem"], tables.access.table_arn)
    keep.add_condition("ForAllValues:StringLike", {"dynamodb:LeadingKeys": [f"{SECRET_PREFIX}*"]})
    return [count, keep]


def _removal_statements(images: ImageBucket) -> list[iam.PolicyStatement]:
    """A delete removes objects at once. S3 tells a missing upload from a forbidden one to listers only."""
    listing = allow(["s3:ListBucket"], images.bucket.bucket_arn)
    prefixes = [f"{prefix}*" for prefix in (ORIGINALS_PREFIX, THUMBNAILS_PREFIX, UPLOADS_PREFIX)]
    listing.add_condition("StringLikeIfExists", {"s3:prefix": prefixes})
    return [allow(["s3:DeleteObject"], images.originals_arn, images.thumbnails_arn), listing]
