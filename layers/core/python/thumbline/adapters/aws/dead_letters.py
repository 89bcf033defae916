"""The dead-letter queue, for a person who looks through it: copies are held briefly, then given back."""

from __future__ import annotations

from thumbline.adapters.aws.queue import Receiving, SQSQueue

HELD = Receiving(visibility_seconds=30, wait_seconds=1)
"""Hidden no longer than one look takes, also where the looker is killed. A receive that waits asks every
server of the queue, one that does not only some of them:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html"""


class SQSDeadLetters(SQSQueue):
    """The same queue behind the same ports; only its receives differ."""

    receiving = HELD
