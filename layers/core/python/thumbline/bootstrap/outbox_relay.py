"""Joins what outbox_relay needs."""

from __future__ import annotations

from dataclasses import dataclass

from thumbline.adapters.aws.queue import SQSQueue
from thumbline.adapters.system import SystemClock
from thumbline.bootstrap import clients
from thumbline.domain.patience import WORKING
from thumbline.ports.clock import Clock
from thumbline.ports.queue import MessageSender
from thumbline.settings import RelaySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    work_queue: MessageSender
    dead_letters: MessageSender
    clock: Clock


def build(settings: RelaySettings) -> Relay:
    sqs = clients.sqs(WORKING)
    return Relay(
        work_queue=SQSQueue(sqs, settings.work_queue_url),
        dead_letters=SQSQueue(sqs, settings.dead_letter_queue_url),
        clock=SystemClock(),
    )
