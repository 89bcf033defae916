"""The private bucket of originals and thumbnails."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.parts.acknowledged import acknowledge
from infra.settings import StageSettings
from thumbline.domain import schema
from thumbline.domain.uploads import UPLOADS_PREFIX


class ImageBucket(Construct):
    """No public access, TLS only, encrypted.

    No age rule touches an original or a thumbnail: they live at least as long as their row, and the
    reconciler ends both.
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
                ),
                # A committed upload has been copied, and an abandoned one nobody wants.
                s3.LifecycleRule(id="forget-uploads", prefix=UPLOADS_PREFIX, expiration=Duration.days(1)),
            ],
            # CloudFormation deletes no bucket that holds objects: `make destroy` empties it first.
            removal_policy=RemovalPolicy.RETAIN if settings.retains_data else RemovalPolicy.DESTROY,
        )
        acknowledge(
            self.bucket,
            {
                "AwsSolutions::AwsSolutions-S1": "No object is reachable but through our functions, which log"
                " every job id, and by links that live for minutes. Server access logs would be one more,"
                " of clients' addresses, with its own retention; an account that must audit reads records"
                " CloudTrail data events for all of its buckets."
            },
        )

    def accepted_prefixes(self, *arns: str) -> dict[str, str]:
        """The findings about roles that reach every object under these prefixes."""
        stack = Stack.of(self)
        bucket = stack.get_logical_id(self.bucket.node.default_child)
        prefixes = {
            self.originals_arn: schema.ORIGINALS_PREFIX,
            self.thumbnails_arn: schema.THUMBNAILS_PREFIX,
            self.uploads_arn: UPLOADS_PREFIX,
        }
        return {
            f"AwsSolutions::AwsSolutions-IAM5[Resource::<{bucket}.Arn>/{prefixes[arn]}*]": "A key ends in its"
            " job's id, which exists only at run time; the prefix is the narrowest name that is known before."
            for arn in arns
        }

    @property
    def originals_arn(self) -> str:
        return self.bucket.arn_for_objects(f"{schema.ORIGINALS_PREFIX}*")

    @property
    def uploads_arn(self) -> str:
        return self.bucket.arn_for_objects(f"{UPLOADS_PREFIX}*")

    @property
    def thumbnails_arn(self) -> str:
        return self.bucket.arn_for_objects(f"{schema.THUMBNAILS_PREFIX}*")
