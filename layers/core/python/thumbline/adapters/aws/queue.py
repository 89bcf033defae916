"""One SQS queue, behind every queue port."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from botocore.exceptions import ClientError

from thumbline.adapters.aws.failures import unavailable_when_failing
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.messages import OutgoingMessage
from thumbline.ports.queue import Depth, ReceivedMessage, VisibilityChange

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

DEPENDENCY = "sqs"
MAX_BATCH_ENTRIES = 10
MAX_BATCH_BYTES = 200_000
"""Below SQS's own limit on a whole batch, whichever of its values a region or an emulator applies."""


@dataclass(frozen=True, slots=True)
class Receiving:
    """How a receive differs from the queue's own defaults, which None stands for. Whole seconds."""

    visibility_seconds: int | None = None
    wait_seconds: int | None = None

    def to_request(self) -> dict[str, Any]:
        named = {"VisibilityTimeout": self.visibility_seconds, "WaitTimeSeconds": self.wait_seconds}
        return {name: seconds for name, seconds in named.items() if seconds is not None}


class SQSQueue:
    receiving: ClassVar[Receiving] = Receiving()

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, messages: Sequence[OutgoingMessage]) -> Sequence[int]:
        unconfirmed: list[int] = []
        for positions in _batches(messages):
            entries = [_send_entry(position, messages[position]) for position in positions]
            try:
                with unavailable_when_failing(DEPENDENCY):
                    answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
            except DependencyUnavailableError:
                unconfirmed.extend(positions)
            else:
                confirmed = {int(entry["Id"]) for entry in answer.get("Successful", [])}
                unconfirmed.extend(position for position in positions if position not in confirmed)
        return unconfirmed

    def change_visibility(self, changes: Sequence[VisibilityChange]) -> Sequence[int]:
        unchanged: list[int] = []
        for start in range(0, len(changes), MAX_BATCH_ENTRIES):
            positions = range(start, min(start + MAX_BATCH_ENTRIES, len(changes)))
            try:
                with unavailable_when_failing(DEPENDENCY):
                    answer = self._client.change_message_visibility_batch(
                        QueueUrl=self._url,
                        Entries=[
                            {
                                "Id": str(position),
                                "ReceiptHandle": changes[position].receipt_handle,
                                "VisibilityTimeout": changes[position].seconds,
                            }
                            for position in positions
                        ],
                    )
            except (DependencyUnavailableError, ClientError):
                # A timer beyond SQS's 12 hours is refused as our mistake; a heartbeat must outlive that, too.
                unchanged.extend(positions)
            else:
                changed = {int(entry["Id"]) for entry in answer.get("Successful", [])}
                unchanged.extend(position for position in positions if position not in changed)
        return unchanged

    def receive(self, limit: int) -> Sequence[ReceivedMessage]:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=min(limit, MAX_BATCH_ENTRIES),
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
                MessageAttributeNames=["All"],
                **self.receiving.to_request(),
            )
        return [
            ReceivedMessage(
                message_id=message["MessageId"],
                receipt_handle=message["ReceiptHandle"],
                body=message["Body"],
                receive_count=int(message["Attributes"]["ApproximateReceiveCount"]),
                attributes={
                    name: value["StringValue"]
                    for name, value in message.get("MessageAttributes", {}).items()
                    if "StringValue" in value
                },
            )
            for message in answer.get("Messages", [])
        ]

    def delete(self, receipt_handle: str) -> None:
        with unavailable_when_failing(DEPENDENCY):
            self._client.delete_message(QueueUrl=self._url, ReceiptHandle=receipt_handle)

    def depth(self) -> Depth:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.get_queue_attributes(
                QueueUrl=self._url,
                AttributeNames=[
                    "ApproximateNumberOfMessages",
                    "ApproximateNumberOfMessagesNotVisible",
                    "ApproximateNumberOfMessagesDelayed",
                ],
            )
        attributes = answer["Attributes"]
        return Depth(
            visible=int(attributes["ApproximateNumberOfMessages"]),
            in_flight=int(attributes["ApproximateNumberOfMessagesNotVisible"]),
            delayed=int(attributes["ApproximateNumberOfMessagesDelayed"]),
        )


def _batches(messages: Sequence[OutgoingMessage]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for position, message in enumerate(messages):
        length = len(message.body.encode()) + sum(
            len(name) + len(str(value).encode()) + 16 for name, value in message.attributes.items()
        )
        if batch and (len(batch) == MAX_BATCH_ENTRIES or size + length > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(position)
        size += length
    if batch:
        yield batch


def _send_entry(position: int, message: OutgoingMessage) -> Any:
    return {
        "Id": str(position),
        "MessageBody": message.body,
        "DelaySeconds": message.delay_seconds,
        "MessageAttributes": {
            name: {
                "DataType": "Number" if isinstance(value, int) else "String",
                "StringValue": str(value),
            }
            for name, value in message.attributes.items()
        },
    }
