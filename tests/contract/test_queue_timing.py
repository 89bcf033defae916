"""Timers, handles and counts of the queue. Where an emulator is known to differ from AWS, the case says how.

The twin has what AWS documents:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from tests.contract.conftest import WORK_MAX_RECEIVES, Backend
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.messages import OutgoingMessage
from thumbline.ports.queue import ReceivedMessage, VisibilityChange


def sent_and_received(backend: Backend, body: str = "one") -> ReceivedMessage:
    backend.queue.send([OutgoingMessage(body)])
    (delivery,) = backend.queue.receive(10)
    return delivery


def hide(backend: Backend, delivery: ReceivedMessage, seconds: int) -> list[int]:
    return list(backend.queue.change_visibility([VisibilityChange(delivery.receipt_handle, seconds)]))


def refused_by_the_emulator(backend: Backend) -> AbstractContextManager[Any]:
    """The emulator calls a handle invalid that AWS confirms, since it knows a message's last handle alone."""
    if backend.name == "emulator":
        return pytest.raises(DependencyUnavailableError, match="ReceiptHandleIsInvalid")
    return nullcontext()


def test_a_shortened_timer_runs_out(backend: Backend) -> None:
    first = sent_and_received(backend)
    assert hide(backend, first, 1) == []
    assert not backend.queue.receive(10)
    backend.wait(2)
    (second,) = backend.queue.receive(10)
    assert (second.message_id, second.receive_count) == (first.message_id, 2)


def test_an_extension_counts_from_now(backend: Backend) -> None:
    delivery = sent_and_received(backend)
    hide(backend, delivery, 1)
    assert hide(backend, delivery, 30) == []
    backend.wait(2)
    assert not backend.queue.receive(10)


def test_every_delivery_has_a_handle_of_its_own(backend: Backend) -> None:
    handles = set()
    delivery = sent_and_received(backend)
    for count in range(1, 5):
        assert delivery.receive_count == count
        handles.add(delivery.receipt_handle)
        hide(backend, delivery, 0)
        (delivery,) = backend.queue.receive(10)
    assert len(handles) == 4


def test_a_stale_handle_is_confirmed(backend: Backend) -> None:
    """AWS confirms and the message may stay, so the twin keeps it. moto deletes it; the emulator refuses."""
    first = sent_and_received(backend)
    hide(backend, first, 0)
    backend.queue.receive(10)
    with refused_by_the_emulator(backend):
        backend.queue.delete(first.receipt_handle)
    assert backend.queue.depth().in_flight == {"twins": 1, "moto": 0, "emulator": 1}[backend.name]


def test_an_expired_delivery_cannot_be_extended(backend: Backend) -> None:
    """AWS answers MessageNotInflight, so the twin does not change it. moto and the emulator hide it again."""
    delivery = sent_and_received(backend)
    hide(backend, delivery, 0)
    assert hide(backend, delivery, 30) == {"twins": [0], "moto": [], "emulator": []}[backend.name]
    assert len(backend.queue.receive(10)) == {"twins": 1, "moto": 0, "emulator": 0}[backend.name]


@pytest.mark.parametrize("seconds", [43_201, 50_000])
def test_nothing_is_hidden_for_more_than_twelve_hours(backend: Backend, seconds: int) -> None:
    """AWS refuses the entry, as the twin and moto do. The emulator hides it for as long as it is asked to."""
    delivery = sent_and_received(backend)
    assert hide(backend, delivery, seconds) == {"twins": [0], "moto": [0], "emulator": []}[backend.name]
    assert hide(backend, delivery, 43_000) == []


def test_twelve_hours_count_from_the_first_receive(backend: Backend) -> None:
    """AWS refuses the one entry that would end later, as the twin does.

    moto refuses the whole call, and the emulator none.
    """
    delivery = sent_and_received(backend)
    backend.wait(2)
    assert hide(backend, delivery, 43_200) == {"twins": [0], "moto": [0], "emulator": []}[backend.name]
    assert hide(backend, delivery, 43_000) == []


def test_a_deleted_message_is_deleted_again_without_complaint(backend: Backend) -> None:
    """On AWS, in the twin and in moto; the emulator refuses."""
    delivery = sent_and_received(backend)
    backend.queue.delete(delivery.receipt_handle)
    with refused_by_the_emulator(backend):
        backend.queue.delete(delivery.receipt_handle)
    assert backend.queue.depth().in_flight == 0


def test_a_deleted_message_cannot_be_extended(backend: Backend) -> None:
    delivery = sent_and_received(backend)
    backend.queue.delete(delivery.receipt_handle)
    assert hide(backend, delivery, 30) == [0]


def test_a_short_delay_ends(backend: Backend) -> None:
    backend.queue.send([OutgoingMessage("later", delay_seconds=1)])
    assert not backend.queue.receive(10)
    backend.wait(2)
    (delivery,) = backend.queue.receive(10)
    assert (delivery.body, delivery.receive_count) == ("later", 1)


@pytest.mark.parametrize("limit", [1, 3, 10])
def test_a_receive_keeps_to_its_limit(backend: Backend, limit: int) -> None:
    backend.queue.send([OutgoingMessage(str(number)) for number in range(12)])
    assert len(backend.queue.receive(limit)) == limit
    assert backend.queue.depth().in_flight == limit


def test_an_empty_queue_gives_nothing(backend: Backend) -> None:
    assert not backend.queue.receive(10)
    depth = backend.queue.depth()
    assert (depth.visible, depth.in_flight, depth.delayed) == (0, 0, 0)


@pytest.mark.parametrize("count", [1, 10, 11, 100])
def test_any_number_of_changes_is_made(backend: Backend, count: int) -> None:
    """SQS takes ten entries a call; the adapter splits."""
    backend.queue.send([OutgoingMessage(str(number)) for number in range(count)])
    received: list[ReceivedMessage] = []
    while batch := backend.queue.receive(10):
        received.extend(batch)
    changes = [VisibilityChange(delivery.receipt_handle, 0) for delivery in received]
    assert list(backend.queue.change_visibility(changes)) == []
    assert backend.queue.depth().visible == count


def test_a_body_keeps_every_character(backend: Backend) -> None:
    body = '{"é": "\\u0000", "<&>": "\t\n"}'
    assert sent_and_received(backend, body).body == body


def test_what_was_received_too_often_goes_where_the_redrive_policy_says(backend: Backend) -> None:
    """S36. The body and the attributes go along, and the queue's own receives have been spent."""
    backend.queue.send([OutgoingMessage("poison", {"code": "bad_message"})])
    for count in range(1, WORK_MAX_RECEIVES + 1):
        (delivery,) = backend.queue.receive(10)
        assert delivery.receive_count == count
        hide(backend, delivery, 0)
    assert not backend.queue.receive(10)
    (moved,) = backend.undelivered.receive(10)
    assert (moved.body, moved.attributes) == ("poison", {"code": "bad_message"})
    assert (backend.queue.depth().visible, backend.queue.depth().in_flight) == (0, 0)


def test_a_message_that_was_delivered_in_time_is_never_moved(backend: Backend) -> None:
    delivery = sent_and_received(backend)
    for _ in range(WORK_MAX_RECEIVES - 1):
        hide(backend, delivery, 0)
        (delivery,) = backend.queue.receive(10)
    backend.queue.delete(delivery.receipt_handle)
    assert not backend.queue.receive(10)
    assert not backend.undelivered.receive(10)


def test_messages_of_two_sends_are_told_apart(backend: Backend) -> None:
    first, second = sent_and_received(backend), sent_and_received(backend)
    assert first.message_id != second.message_id
