"""The queue's and the bucket's ports."""

from __future__ import annotations

import hashlib

import pytest

from tests.contract.conftest import Backend
from thumbline.domain.messages import OutgoingMessage
from thumbline.ports.objects import ObjectMissingError
from thumbline.ports.queue import ReceivedMessage, VisibilityChange

KEY = "originals/img_00000000000000000000000000"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_every_sent_message_is_confirmed_and_received(backend: Backend) -> None:
    bodies = [f"message {number}" for number in range(23)]
    assert list(backend.queue.send([OutgoingMessage(body) for body in bodies])) == []
    received: list[ReceivedMessage] = []
    while batch := backend.queue.receive(10):
        assert len(batch) <= 10
        received.extend(batch)
    assert sorted(delivery.body for delivery in received) == sorted(bodies)
    assert {delivery.receive_count for delivery in received} == {1}
    assert len({delivery.receipt_handle for delivery in received}) == 23


def test_attributes_and_large_bodies_are_sent(backend: Backend) -> None:
    message = OutgoingMessage("ä" * 50_000, {"code": "bad_message", "generation": 2})
    assert list(backend.queue.send([message, message, message])) == []
    assert backend.queue.depth().visible == 3


def test_a_received_message_is_hidden_and_a_deleted_one_is_gone(backend: Backend) -> None:
    """S33, S35."""
    backend.queue.send([OutgoingMessage("one")])
    (delivery,) = backend.queue.receive(10)
    assert not backend.queue.receive(10)
    assert (backend.queue.depth().visible, backend.queue.depth().in_flight) == (0, 1)
    backend.queue.delete(delivery.receipt_handle)
    assert (backend.queue.depth().visible, backend.queue.depth().in_flight) == (0, 0)


def test_visibility_zero_returns_a_message_at_once_with_a_new_handle(backend: Backend) -> None:
    """S34."""
    backend.queue.send([OutgoingMessage("one")])
    (first,) = backend.queue.receive(10)
    assert list(backend.queue.change_visibility([VisibilityChange(first.receipt_handle, 0)])) == []
    (second,) = backend.queue.receive(10)
    assert second.message_id == first.message_id
    assert second.receive_count == 2
    assert second.receipt_handle != first.receipt_handle


def test_an_unknown_handle_is_reported_and_the_others_are_changed(backend: Backend) -> None:
    backend.queue.send([OutgoingMessage("one")])
    (delivery,) = backend.queue.receive(10)
    changes = [VisibilityChange("nonsense", 0), VisibilityChange(delivery.receipt_handle, 0)]
    assert list(backend.queue.change_visibility(changes)) == [0]
    assert backend.queue.receive(10)


def test_no_changes_are_no_call(backend: Backend) -> None:
    assert list(backend.queue.change_visibility([])) == []
    assert list(backend.queue.send([])) == []


def test_a_delayed_message_is_counted_and_not_received(backend: Backend) -> None:
    backend.queue.send([OutgoingMessage("later", delay_seconds=900)])
    assert not backend.queue.receive(10)
    depth = backend.queue.depth()
    assert (depth.visible, depth.delayed) == (0, 1)


def test_an_original_is_immutable(backend: Backend) -> None:
    backend.objects.put_original(KEY, b"first", digest(b"first"))
    backend.objects.put_original(KEY, b"second", digest(b"second"))
    assert backend.objects.get_original(KEY) == b"first"


def test_a_missing_original_is_told_apart(backend: Backend) -> None:
    with pytest.raises(ObjectMissingError):
        backend.objects.get_original(KEY)


def test_a_thumbnail_is_overwritten_by_a_redo(backend: Backend) -> None:
    """S7, S14."""
    key = "thumbnails/img_x/thumbnail-0.jpg"
    backend.objects.put_thumbnail(key, b"same", "image/jpeg")
    backend.objects.put_thumbnail(key, b"same", "image/jpeg")
    assert backend.objects.get_original(key) == b"same"


def test_all_objects_under_a_prefix_are_removed_and_no_other(backend: Backend) -> None:
    for name in ("thumbnails/a/1", "thumbnails/a/2", "thumbnails/ab/1"):
        backend.objects.put_thumbnail(name, b"x", "image/jpeg")
    assert backend.objects.remove_all("thumbnails/a/") == 2
    assert backend.objects.remove_all("thumbnails/a/") == 0
    assert backend.objects.get_original("thumbnails/ab/1") == b"x"


def test_a_signed_url_names_the_object(backend: Backend) -> None:
    url = backend.objects.sign("thumbnails/a/1.jpg", "image/jpeg", 300, "GET")
    assert "thumbnails/a/1.jpg" in url
    assert "300" in url


def test_originals_are_listed_in_order_from_a_cursor(backend: Backend) -> None:
    names = [f"originals/img_{number:026d}" for number in range(5)]
    for name in reversed(names):
        backend.objects.put_original(name, b"x", digest(b"x"))
    backend.objects.put_thumbnail("thumbnails/img/1", b"x", "image/jpeg")
    assert backend.objects.originals_after("originals/", 3) == names[:3]
    assert backend.objects.originals_after(names[2], 3) == names[3:]


def test_attributes_are_received(backend: Backend) -> None:
    backend.queue.send([OutgoingMessage("one", {"code": "bad_message", "generation": 2})])
    (delivery,) = backend.queue.receive(1)
    assert delivery.attributes == {"code": "bad_message", "generation": "2"}


def test_a_timer_beyond_twelve_hours_is_reported_and_raises_nothing(backend: Backend) -> None:
    """SQS refuses it; the heartbeat that asked must go on. The emulator has no such limit."""
    backend.queue.send([OutgoingMessage("one")])
    (delivery,) = backend.queue.receive(10)
    refused = list(backend.queue.change_visibility([VisibilityChange(delivery.receipt_handle, 43_201)]))
    assert refused == {"twins": [0], "moto": [0], "emulator": []}[backend.name]
