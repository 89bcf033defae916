"""A standard queue in memory: visibility timers, receive counts, fresh receipt handles, a redrive target."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from thumbline.adapters.memory.faults import Faults
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.retry import MAX_VISIBILITY_SECONDS
from thumbline.ports.clock import Clock
from thumbline.ports.queue import Depth, ReceivedMessage, VisibilityChange

DEPENDENCY = "sqs"


@dataclass(slots=True)
class StoredMessage:
    message_id: str
    message: OutgoingMessage
    visible_at: int
    delayed: bool
    receive_count: int = 0
    receipt_handle: str = ""


@dataclass(slots=True)
class MemoryQueue:
    """Behaves as SQS does for the queue ports. The next send confirms all but `refused_positions`."""

    clock: Clock
    name: str = "queue"
    visibility_seconds: int = 30
    max_receive_count: int | None = None
    redrive_target: MemoryQueue | None = None
    faults: Faults = field(default_factory=Faults)
    messages: dict[str, StoredMessage] = field(default_factory=dict)
    refused_positions: set[int] = field(default_factory=set)
    _count: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def send(self, messages: Sequence[OutgoingMessage]) -> Sequence[int]:
        refused, self.refused_positions = self.refused_positions, set()
        try:
            with self._lock, self.faults.around(DEPENDENCY, f"{self.name}.send"):
                for position, message in enumerate(messages):
                    if position not in refused:
                        self._store(message)
        except DependencyUnavailableError:
            return range(len(messages))
        return sorted(refused & set(range(len(messages))))

    def receive(self, limit: int) -> Sequence[ReceivedMessage]:
        received: list[ReceivedMessage] = []
        with self._lock, self.faults.around(DEPENDENCY, f"{self.name}.receive"):
            for stored in list(self.messages.values()):
                if len(received) == min(limit, 10):
                    break
                if stored.visible_at > self.clock.now() or self._redriven(stored):
                    continue
                stored.delayed = False
                stored.receive_count += 1
                stored.receipt_handle = f"{stored.message_id}/{stored.receive_count}"
                stored.visible_at = self.clock.now() + self.visibility_seconds * 1000
                received.append(
                    ReceivedMessage(
                        stored.message_id,
                        stored.receipt_handle,
                        stored.message.body,
                        stored.receive_count,
                        {name: str(value) for name, value in stored.message.attributes.items()},
                    )
                )
        return received

    def change_visibility(self, changes: Sequence[VisibilityChange]) -> Sequence[int]:
        unchanged: list[int] = []
        try:
            with self._lock, self.faults.around(DEPENDENCY, f"{self.name}.change_visibility"):
                for position, change in enumerate(changes):
                    stored = self._in_flight(change.receipt_handle)
                    if stored is None or not 0 <= change.seconds <= MAX_VISIBILITY_SECONDS:
                        unchanged.append(position)
                    else:
                        stored.visible_at = self.clock.now() + change.seconds * 1000
        except DependencyUnavailableError:
            return range(len(changes))
        return unchanged

    def delete(self, receipt_handle: str) -> None:
        """A stale handle is accepted and deletes nothing, which SQS may do too."""
        with self._lock, self.faults.around(DEPENDENCY, f"{self.name}.delete"):
            message_id = receipt_handle.rpartition("/")[0]
            stored = self.messages.get(message_id)
            if stored is not None and stored.receipt_handle == receipt_handle:
                del self.messages[message_id]

    def depth(self) -> Depth:
        with self._lock, self.faults.around(DEPENDENCY, f"{self.name}.depth"):
            waiting = [stored for stored in self.messages.values() if stored.visible_at > self.clock.now()]
            delayed = sum(stored.delayed for stored in waiting)
            return Depth(
                visible=len(self.messages) - len(waiting), in_flight=len(waiting) - delayed, delayed=delayed
            )

    def _store(self, message: OutgoingMessage) -> None:
        self._count += 1
        message_id = f"{self.name}-{self._count}"
        self.messages[message_id] = StoredMessage(
            message_id,
            message,
            visible_at=self.clock.now() + message.delay_seconds * 1000,
            delayed=message.delay_seconds > 0,
        )

    def _redriven(self, stored: StoredMessage) -> bool:
        """A receive that would pass the limit moves the message instead of delivering it."""
        if self.redrive_target is None or stored.receive_count < (self.max_receive_count or 0):
            return False
        del self.messages[stored.message_id]
        self.redrive_target._store(OutgoingMessage(stored.message.body, stored.message.attributes))
        return True

    def _in_flight(self, receipt_handle: str) -> StoredMessage | None:
        stored = self.messages.get(receipt_handle.rpartition("/")[0])
        if stored is None or stored.receipt_handle != receipt_handle:
            return None
        return stored if stored.visible_at > self.clock.now() else None
