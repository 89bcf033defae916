"""Joins what ingest_api needs. It has no queue: it must answer while every queue is down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from thumbline.adapters.aws.acceptance import DynamoDBAcceptance
from thumbline.adapters.aws.access import DynamoDBAccess
from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.objects import S3Objects
from thumbline.adapters.aws.owner_index import DynamoDBOwnerIndex
from thumbline.adapters.aws.request_time import RequestTime
from thumbline.adapters.aws.uploads import S3Uploads
from thumbline.adapters.system import RandomIds, SystemClock
from thumbline.bootstrap import clients
from thumbline.domain.patience import ANSWERING, COPYING
from thumbline.ports.access import QuotaCounter, SecretSource
from thumbline.ports.listing import OwnerIndex
from thumbline.ports.objects import UrlSigner
from thumbline.ports.uploads import UploadSigner, UploadStore
from thumbline.service.accept_job import Acceptance, AcceptancePolicy
from thumbline.service.admit_job import OpenJobs
from thumbline.service.delete_job import Deletion
from thumbline.settings import IngestSettings


class Uploads(UploadSigner, UploadStore, Protocol):
    """Both sides of uploads."""


class Access(QuotaCounter, SecretSource, Protocol):
    """What answering clients needs of the access table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    settings: IngestSettings
    acceptance: Acceptance
    deletion: Deletion
    index: OwnerIndex
    uploads: Uploads
    access: Access
    signer: UrlSigner
    time: RequestTime


def build(settings: IngestSettings) -> Ingest:
    time = RequestTime()
    dynamodb = time.limit(clients.dynamodb(ANSWERING), ANSWERING)
    objects = S3Objects(time.limit(clients.s3(ANSWERING), ANSWERING), settings.bucket)
    jobs = DynamoDBJobs(dynamodb, settings.jobs_table)
    index = DynamoDBOwnerIndex(dynamodb, settings.jobs_table)
    clock, ids = SystemClock(), RandomIds()
    acceptance = Acceptance(
        jobs=jobs,
        store=DynamoDBAcceptance(
            dynamodb, jobs_table=settings.jobs_table, idempotency_table=settings.idempotency_table
        ),
        objects=objects,
        clock=clock,
        ids=ids,
        policy=acceptance_policy(settings),
        admit=OpenJobs(index, clock, settings.max_open_jobs).admit,
    )
    return Ingest(
        settings=settings,
        acceptance=acceptance,
        deletion=Deletion(jobs=jobs, objects=objects, clock=clock, ids=ids, timings=settings.timings),
        index=index,
        uploads=S3Uploads(time.limit(clients.s3(COPYING), COPYING), settings.bucket),
        access=DynamoDBAccess(dynamodb, settings.access_table),
        signer=objects,
        time=time,
    )


def acceptance_policy(settings: IngestSettings) -> AcceptancePolicy:
    return AcceptancePolicy(
        deadline_seconds=settings.timings.deadline_seconds,
        queued_patience_seconds=settings.timings.queued_patience_seconds,
        idempotency_seconds=settings.idempotency_seconds,
    )
