"""A queue, seen from each side. An adapter implements all of them; a use case asks for what it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from thumbline.domain.messages import OutgoingMessage


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """One delivery. The receipt handle belongs to this delivery alone."""

    message_id: str
    receipt_handle: str
    body: str
    receive_count: int
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Message attributes; numbers as their text."""


@dataclass(frozen=True, slots=True)
class VisibilityChange:
    """From now, in whole seconds, 0 to 43,200."""

    receipt_handle: str
    seconds: int


@dataclass(frozen=True, slots=True)
class Depth:
    """Approximate counts, as SQS gives them."""

    visible: int
    in_flight: int
    delayed: int


class MessageSender(Protocol):
    def send(self, messages: Sequence[OutgoingMessage]) -> Sequence[int]:
        """Sends any number of messages; the positions of those that the queue did not confirm.

        Never raises for a queue that is down: then no position is confirmed.
        """
        ...


class VisibilityControl(Protocol):
    def change_visibility(self, changes: Sequence[VisibilityChange]) -> Sequence[int]:
        """The positions that could not be changed; never raises for a queue that is down."""
        ...


class MessageReceiver(Protocol):
    def receive(self, limit: int) -> Sequence[ReceivedMessage]:
        """Up to `limit` deliveries, at most 10 a call. Raises DependencyUnavailableError."""
        ...

    def delete(self, receipt_handle: str) -> None:
        """Raises DependencyUnavailableError."""
        ...


class Backlog(Protocol):
    def depth(self) -> Depth:
        """Raises DependencyUnavailableError."""
        ...


class WorkQueue(MessageSender, Backlog, Protocol):
    """The reconciler's view of the work queue."""
