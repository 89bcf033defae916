"""A standard queue in memory: visibility timers, receive counts, fresh receipt handles, a redrive target.

Where AWS documents what a standard queue may do and seldom does (deliver twice, out of order, survive a
delete), `QueueHabits` says how often this one does it.
"""

from __future__ import annotations

import random
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from thumbline.adapters.memory.faults import Boundary, Faults
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.retry import MAX_VISIBILITY_SECONDS
from thumbline.ports.clock import Clock
from thumbline.ports.queue import Depth, ReceivedMessage, VisibilityChange

DEPENDENCY = "sqs"
MAX_RECEIVED = 10
_REORDER_WINDOW = 40


@dataclass(slots=True)
class QueueHabits:
    """Probabilities from 0 to 1, drawn from a seeded source; all 0 is a queue on its best day.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html"""

    chance: random.Random = field(default_factory=random.Random)
    delivered_twice: float = 0.0
    """A received message stays visible for another receiver."""
    survives_delete: float = 0.0
    """A confirmed delete did not reach every copy: the message comes back when its timer runs out."""
    out_of_order: float = 0.0
    entry_refused: float = 0.0
    """One entry of a batch ends in `Failed[]` while its neighbours are sent."""
    stale_delete_works: float = 0.0
    """A delete with an older receipt handle is always confirmed, and sometimes deletes."""

    def strikes(self, probability: float) -> bool:
        return probability > 0 and self.chance.random() < probability


@dataclass(slots=True)
class StoredMessage:
    message_id: str
    message: OutgoingMessage
    visible_at: int
    delayed: bool
    receive_count: int = 0
    receipt_handle: str = ""
    first_received_at: int | None = None


@dataclass(slots=True)
class MemoryQueue:
    """Behaves as SQS does for the queue ports. The next send confirms all but `refused_positions`."""

    clock: Clock
    name: str = "queue"
    visibility_seconds: int = 30
    max_receive_count: int | None = None
    redrive_target: MemoryQueue | None = None
    faults: Boundary = field(default_factory=Faults)
    habits: QueueHabits = field(default_factory=QueueHabits)
    messages: OrderedDict[str, StoredMessage] = field(default_factory=OrderedDict)
    """In the order of sending; a plain dict would walk over every hole that a deleted message left."""
    refused_positions: set[int] = field(default_factory=set)
    _count: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def send(self, messages: Sequence[OutgoingMessage]) -> Sequence[int]:
        refused, self.refused_positions = self.refused_positions, set()
        refused.update(at for at in range(len(messages)) if self.habits.strikes(self.habits.entry_refused))
        try:
            with self.faults.around(DEPENDENCY, f"{self.name}.send"), self._lock:
                for position, message in enumerate(messages):
                    if position not in refused:
                        self.put(message)
        except DependencyUnavailableError:
            return range(len(messages))
        return sorted(refused & set(range(len(messages))))

    def receive(self, limit: int) -> Sequence[ReceivedMessage]:
        with self.faults.around(DEPENDENCY, f"{self.name}.receive"), self._lock:
            return [self._deliver(stored) for stored in self._chosen(min(limit, MAX_RECEIVED))]

    def change_visibility(self, changes: Sequence[VisibilityChange]) -> Sequence[int]:
        unchanged: list[int] = []
        try:
            with self.faults.around(DEPENDENCY, f"{self.name}.change_visibility"), self._lock:
                for position, change in enumerate(changes):
                    stored = self._in_flight(change.receipt_handle)
                    if stored is None or not self._may_hide(stored, change.seconds):
                        unchanged.append(position)
                    else:
                        stored.visible_at = self.clock.now() + change.seconds * 1000
        except DependencyUnavailableError:
            return range(len(changes))
        return unchanged

    def delete(self, receipt_handle: str) -> None:
        """Always confirmed; a stale handle deletes nothing unless the habits say so."""
        with self.faults.around(DEPENDENCY, f"{self.name}.delete"), self._lock:
            message_id = receipt_handle.rpartition("/")[0]
            stored = self.messages.get(message_id)
            if stored is None or self.habits.strikes(self.habits.survives_delete):
                return
            if stored.receipt_handle == receipt_handle or self.habits.strikes(self.habits.stale_delete_works):
                del self.messages[message_id]

    def depth(self) -> Depth:
        with self.faults.around(DEPENDENCY, f"{self.name}.depth"), self._lock:
            waiting = [stored for stored in self.messages.values() if stored.visible_at > self.clock.now()]
            delayed = sum(stored.delayed for stored in waiting)
            return Depth(
                visible=len(self.messages) - len(waiting), in_flight=len(waiting) - delayed, delayed=delayed
            )

    def put(self, message: OutgoingMessage) -> None:
        """Stores a message without a call: what AWS itself does when it moves one here."""
        self._count += 1
        message_id = f"{self.name}-{self._count}"
        self.messages[message_id] = StoredMessage(
            message_id,
            message,
            visible_at=self.clock.now() + message.delay_seconds * 1000,
            delayed=message.delay_seconds > 0,
        )

    def _chosen(self, limit: int) -> list[StoredMessage]:
        """The oldest visible messages; after moving away those that were received too often."""
        out_of_order = self.habits.strikes(self.habits.out_of_order)
        found: list[StoredMessage] = []
        given_up: list[StoredMessage] = []
        now = self.clock.now()
        for stored in self.messages.values():
            if len(found) == (_REORDER_WINDOW if out_of_order else limit):
                break
            if stored.visible_at <= now:
                (given_up if self._is_given_up(stored) else found).append(stored)
        for stored in given_up:
            self._redrive(stored)
        if out_of_order:
            self.habits.chance.shuffle(found)
        return found[:limit]

    def _deliver(self, stored: StoredMessage) -> ReceivedMessage:
        now = self.clock.now()
        stored.delayed = False
        stored.receive_count += 1
        stored.receipt_handle = f"{stored.message_id}/{stored.receive_count}"
        if stored.first_received_at is None:
            stored.first_received_at = now
        if not self.habits.strikes(self.habits.delivered_twice):
            stored.visible_at = now + self.visibility_seconds * 1000
        return ReceivedMessage(
            stored.message_id,
            stored.receipt_handle,
            stored.message.body,
            stored.receive_count,
            {name: str(value) for name, value in stored.message.attributes.items()},
        )

    def _is_given_up(self, stored: StoredMessage) -> bool:
        """A receive that would pass the limit moves the message instead of delivering it."""
        limit = self.max_receive_count
        return self.redrive_target is not None and limit is not None and stored.receive_count >= limit

    def _redrive(self, stored: StoredMessage) -> None:
        assert self.redrive_target is not None
        del self.messages[stored.message_id]
        self.redrive_target.put(OutgoingMessage(stored.message.body, stored.message.attributes))

    def _in_flight(self, receipt_handle: str) -> StoredMessage | None:
        stored = self.messages.get(receipt_handle.rpartition("/")[0])
        if stored is None or stored.receipt_handle != receipt_handle:
            return None
        return stored if stored.visible_at > self.clock.now() else None

    def _may_hide(self, stored: StoredMessage, seconds: int) -> bool:
        """No extension reaches beyond 12 hours after the message was first received.
        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""
        assert stored.first_received_at is not None
        ceiling = stored.first_received_at + MAX_VISIBILITY_SECONDS * 1000
        return seconds >= 0 and self.clock.now() + seconds * 1000 <= ceiling
