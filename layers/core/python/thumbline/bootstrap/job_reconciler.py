"""Joins what job_reconciler needs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.objects import S3Objects
from thumbline.adapters.aws.outbox import DynamoDBOutbox
from thumbline.adapters.aws.queue import SQSQueue
from thumbline.adapters.system import RandomIds, SystemClock
from thumbline.bootstrap import clients
from thumbline.domain.patience import RECONCILING
from thumbline.service.reconcile.reconciler import Reconciler
from thumbline.service.reconcile.treat_each import AT_ONCE
from thumbline.settings import ReconcilerSettings


def build(settings: ReconcilerSettings) -> Reconciler:
    sqs = clients.sqs(RECONCILING)
    jobs = DynamoDBJobs(clients.dynamodb(RECONCILING), settings.jobs_table)
    return Reconciler(
        jobs=jobs,
        snapshots=jobs,
        outbox=DynamoDBOutbox(clients.dynamodbstreams(RECONCILING)),
        objects=S3Objects(clients.s3(RECONCILING), settings.bucket),
        work_queue=SQSQueue(sqs, settings.work_queue_url),
        undelivered_queue=SQSQueue(sqs, settings.undelivered_queue_url),
        relay_failure_queue=SQSQueue(sqs, settings.relay_failure_queue_url),
        clock=SystemClock(),
        ids=RandomIds(),
        timings=settings.timings,
        max_jobs_per_run=settings.max_jobs_per_run,
        in_parallel=ThreadPoolExecutor(AT_ONCE, "reconciler").map,
    )
