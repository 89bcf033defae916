"""What the SQS adapter makes of a batch's answer: an entry counts as done only where SQS says so.

botocore's stubber answers, because no emulator refuses one entry of a batch on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from thumbline.adapters.aws.queue import SQSQueue
from thumbline.domain.messages import OutgoingMessage
from thumbline.ports.queue import VisibilityChange

URL = "https://sqs.us-east-1.amazonaws.com/000000000000/work"


@pytest.fixture(scope="module")
def client() -> Any:
    return boto3.client("sqs")


@pytest.fixture
def sqs(client: Any) -> Iterator[Stubber]:
    """Every answer that a test plans must be asked for."""
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def queue(client: Any, sqs: Stubber) -> SQSQueue:  # noqa: ARG001 (the client is stubbed)
    return SQSQueue(client, URL)


def sent(*positions: int) -> list[dict[str, str]]:
    return [{"Id": str(at), "MessageId": f"m{at}", "MD5OfMessageBody": "0"} for at in positions]


def refused(*positions: int) -> list[dict[str, Any]]:
    return [{"Id": str(at), "SenderFault": False, "Code": "InternalError"} for at in positions]


def entries(*positions: int) -> dict[str, Any]:
    """What is asked for when the messages at these positions are sent."""
    return {
        "QueueUrl": URL,
        "Entries": [
            {"Id": str(at), "MessageBody": f"body {at}", "DelaySeconds": at, "MessageAttributes": {}}
            for at in positions
        ],
    }


def timers(*positions: int) -> dict[str, Any]:
    return {
        "QueueUrl": URL,
        "Entries": [
            {"Id": str(at), "ReceiptHandle": f"handle {at}", "VisibilityTimeout": 30 + at} for at in positions
        ],
    }


MESSAGES = [OutgoingMessage(f"body {at}", delay_seconds=at) for at in range(13)]
CHANGES = [VisibilityChange(f"handle {at}", 30 + at) for at in range(13)]


def test_each_entry_that_was_not_sent_is_reported_by_its_position(sqs: Stubber, queue: SQSQueue) -> None:
    """S26, in the adapter: `Failed[]` of both batches, and an entry that SQS does not mention at all."""
    sqs.add_response(
        "send_message_batch",
        {"Successful": sent(0, 2, 3, 5, 6, 7, 8, 9), "Failed": refused(1)},
        entries(*range(10)),
    )
    sqs.add_response(
        "send_message_batch", {"Successful": sent(10, 11), "Failed": refused(12)}, entries(10, 11, 12)
    )
    assert list(queue.send(MESSAGES)) == [1, 4, 12]


def test_a_batch_that_was_confirmed_whole_leaves_nothing_to_send_again(sqs: Stubber, queue: SQSQueue) -> None:
    sqs.add_response("send_message_batch", {"Successful": sent(0, 1), "Failed": []}, entries(0, 1))
    assert list(queue.send(MESSAGES[:2])) == []


@pytest.mark.parametrize("code", ["ServiceUnavailable", "RequestThrottled", "AccessDenied"])
def test_a_batch_that_was_not_answered_was_not_sent_and_the_next_one_is(
    sqs: Stubber, queue: SQSQueue, code: str
) -> None:
    sqs.add_client_error("send_message_batch", code, expected_params=entries(*range(10)))
    sqs.add_response(
        "send_message_batch", {"Successful": sent(10, 11, 12), "Failed": []}, entries(10, 11, 12)
    )
    assert list(queue.send(MESSAGES)) == list(range(10))


def test_each_timer_that_was_not_set_is_reported_by_its_position(sqs: Stubber, queue: SQSQueue) -> None:
    sqs.add_response(
        "change_message_visibility_batch",
        {"Successful": [{"Id": str(at)} for at in range(10) if at not in (0, 7)], "Failed": refused(0)},
        timers(*range(10)),
    )
    sqs.add_response(
        "change_message_visibility_batch",
        {"Successful": [{"Id": "10"}, {"Id": "12"}], "Failed": refused(11)},
        timers(10, 11, 12),
    )
    assert list(queue.change_visibility(CHANGES)) == [0, 7, 11]


@pytest.mark.parametrize("code", ["ServiceUnavailable", "RequestThrottled", "InvalidParameterValue"])
def test_a_batch_of_timers_that_was_refused_was_not_set_and_the_next_one_is(
    sqs: Stubber, queue: SQSQueue, code: str
) -> None:
    """A heartbeat outlives both an outage and a timer that SQS will not take."""
    sqs.add_client_error("change_message_visibility_batch", code, expected_params=timers(*range(10)))
    sqs.add_response(
        "change_message_visibility_batch",
        {"Successful": [{"Id": str(at)} for at in (10, 11, 12)], "Failed": []},
        timers(10, 11, 12),
    )
    assert list(queue.change_visibility(CHANGES)) == list(range(10))
