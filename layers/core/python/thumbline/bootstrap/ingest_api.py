"""Joins what ingest_api needs. It has no queue: it must answer while every queue is down."""

from __future__ import annotations

from dataclasses import dataclass

from thumbline.adapters.aws.acceptance import DynamoDBAcceptance
from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.objects import S3Objects
from thumbline.adapters.system import RandomIds, SystemClock
from thumbline.bootstrap import clients
from thumbline.ports.objects import UrlSigner
from thumbline.service.accept_image import Acceptance, AcceptancePolicy
from thumbline.settings import IngestSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    settings: IngestSettings
    acceptance: Acceptance
    signer: UrlSigner


def build(settings: IngestSettings) -> Ingest:
    dynamodb = clients.dynamodb(clients.BEHIND_AN_API)
    objects = S3Objects(clients.s3(clients.BEHIND_AN_API), settings.bucket)
    acceptance = Acceptance(
        jobs=DynamoDBJobs(dynamodb, settings.jobs_table),
        store=DynamoDBAcceptance(
            dynamodb, jobs_table=settings.jobs_table, idempotency_table=settings.idempotency_table
        ),
        objects=objects,
        clock=SystemClock(),
        ids=RandomIds(),
        policy=AcceptancePolicy(
            deadline_seconds=settings.deadline_seconds,
            queued_patience_seconds=settings.queued_patience_seconds,
            idempotency_seconds=settings.idempotency_seconds,
        ),
    )
    return Ingest(settings=settings, acceptance=acceptance, signer=objects)
