"""Joins what thumbnail_worker needs."""

from __future__ import annotations

from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.objects import S3Objects
from thumbline.adapters.aws.queue import SQSQueue
from thumbline.adapters.pillow.subprocess_renderer import SubprocessRenderer
from thumbline.adapters.system import RandomIds, SystemClock, system_jitter
from thumbline.bootstrap import clients
from thumbline.domain.patience import ATTEMPTING, WORKING, beating
from thumbline.service.worker import Worker
from thumbline.settings import WorkerSettings


def build(settings: WorkerSettings) -> Worker:
    sqs = clients.sqs(WORKING)
    prompt = beating(settings.beat_call_seconds)
    return Worker(
        jobs=DynamoDBJobs(clients.dynamodb(ATTEMPTING), settings.jobs_table),
        beating_jobs=DynamoDBJobs(clients.dynamodb(prompt), settings.jobs_table),
        objects=S3Objects(clients.s3(WORKING), settings.bucket),
        renderer=SubprocessRenderer(settings.limits),
        work_queue=SQSQueue(sqs, settings.work_queue_url),
        beating_queue=SQSQueue(clients.sqs(prompt), settings.work_queue_url),
        dead_letters=SQSQueue(sqs, settings.dead_letter_queue_url),
        clock=SystemClock(),
        ids=RandomIds(),
        jitter=system_jitter,
        timings=settings.timings,
        limits=settings.limits,
    )
