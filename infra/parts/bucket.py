"""The private bucket of originals and thumbnails."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.settings import StageSettings
from thumbline.domain import schema


class ImageBucket(Construct):
    """No public access, TLS only, encrypted.

    No age rule touches an object: originals live at least as long as their row, and the reconciler ends both.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: StageSettings) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Images",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="abort-unfinished-uploads",
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN if settings.retains_data else RemovalPolicy.DESTROY,
            auto_delete_objects=settings.empties_bucket,
        )

    @property
    def originals_arn(self) -> str:
        return self.bucket.arn_for_objects(f"{schema.ORIGINALS_PREFIX}*")

    @property
    def thumbnails_arn(self) -> str:
        return self.bucket.arn_for_objects(f"{schema.THUMBNAILS_PREFIX}*")
