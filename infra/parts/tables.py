"""The jobs table, whose stream is the outbox, the table of idempotency records, and the access table."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.settings import StageSettings
from thumbline.domain import access, schema


class Tables(Construct):
    """On demand, encrypted, with point-in-time recovery; they outlive the stack where the stage says so."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: StageSettings) -> None:
        super().__init__(scope, construct_id)
        removal = RemovalPolicy.RETAIN if settings.retains_data else RemovalPolicy.DESTROY
        self.jobs = dynamodb.Table(
            self,
            "Jobs",
            partition_key=_text(schema.JOBS_KEY),
            time_to_live_attribute=schema.JOBS_TTL,
            # Both images: the relay publishes where outbox_seq has changed between them.
            stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=_recovery(),
            deletion_protection=settings.retains_data,
            removal_policy=removal,
        )
        self.jobs.add_global_secondary_index(
            index_name=schema.DUE_INDEX,
            partition_key=_text(schema.DUE_INDEX_SHARD),
            sort_key=dynamodb.Attribute(name=schema.DUE_INDEX_TIME, type=dynamodb.AttributeType.NUMBER),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        self.jobs.add_global_secondary_index(
            index_name=schema.OWNER_INDEX,
            partition_key=_text(schema.OWNER_INDEX_OWNER),
            sort_key=_text(schema.JOBS_KEY),
            projection_type=dynamodb.ProjectionType.INCLUDE,
            non_key_attributes=list(schema.OWNER_INDEX_ATTRIBUTES),
        )
        self.idempotency = dynamodb.Table(
            self,
            "Idempotency",
            partition_key=_text(schema.IDEMPOTENCY_KEY),
            time_to_live_attribute=schema.IDEMPOTENCY_TTL,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=_recovery(),
            deletion_protection=settings.retains_data,
            removal_policy=removal,
        )

        self.access = dynamodb.Table(
            self,
            "Access",
            partition_key=_text(access.ACCESS_KEY),
            time_to_live_attribute=access.ACCESS_TTL,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=_recovery(),
            deletion_protection=settings.retains_data,
            removal_policy=removal,
        )

    @property
    def owner_index_arn(self) -> str:
        return f"{self.jobs.table_arn}/index/{schema.OWNER_INDEX}"

    @property
    def jobs_stream_arn(self) -> str:
        arn = self.jobs.table_stream_arn
        assert arn is not None, "the jobs table is made with a stream"
        return arn

    @property
    def due_index_arn(self) -> str:
        return f"{self.jobs.table_arn}/index/{schema.DUE_INDEX}"


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _recovery() -> dynamodb.PointInTimeRecoverySpecification:
    return dynamodb.PointInTimeRecoverySpecification(point_in_time_recovery_enabled=True)
