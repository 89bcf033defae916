"""Everything that is neither the row nor an actor: the queues, the stream, the bucket; and what acts on them.

Messages of one job are alike, so a queue is a count. Timers and delays are choices: a visible message may be
received now or later. The stream keeps what is owed: the record of the row's latest owed publish, and those
of earlier ones that the relay has not reached yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from tools.modelcheck.configuration import Configuration
from tools.modelcheck.rows import MaybeRow


class Owed(StrEnum):
    """Where the latest owed publish is."""

    NOTHING = "nothing"
    MESSAGE = "a message"
    COPY = "a copy"
    MESSAGE_GIVEN_UP = "a message that the relay gave up on"
    COPY_GIVEN_UP = "a copy that the relay gave up on"


GIVEN_UP = {Owed.MESSAGE: Owed.MESSAGE_GIVEN_UP, Owed.COPY: Owed.COPY_GIVEN_UP}


class Broker(NamedTuple):
    visible: int = 0
    """Messages that a worker may receive and no earlier receiver has a handle for."""
    undelivered: int = 0
    owed: Owed = Owed.NOTHING
    older_message: bool = False
    older_copies: frozenset[int] = frozenset()
    """Generations of exhausted rows whose record is still in the stream behind a newer one."""
    copies: frozenset[int] = frozenset()
    """Generations with an annotated copy in the dead-letter queue."""
    bad_message: bool = False
    """A message that names the job and cannot be understood."""
    bad_copied: bool = False
    """The dead-letter queue has a copy of one that was not understood."""
    original: bool = True
    thumbnail: bool = False

    @property
    def has_message(self) -> bool:
        owed = self.owed in (Owed.MESSAGE, Owed.MESSAGE_GIVEN_UP)
        return bool(self.visible or self.undelivered or owed or self.older_message)

    @property
    def is_drained(self) -> bool:
        quiet = self.owed is Owed.NOTHING and not self.older_copies and not self.bad_message
        return quiet and not self.has_message

    def has_copy(self, generation: int) -> bool:
        owed = self.owed in (Owed.COPY, Owed.COPY_GIVEN_UP)
        return owed or generation in self.copies or generation in self.older_copies

    def __str__(self) -> str:
        parts = [f"{self.visible} visible"]
        parts += [f"{self.undelivered} undelivered"] if self.undelivered else []
        parts += [] if self.owed is Owed.NOTHING else [f"owed {self.owed}"]
        parts += ["an older message owed"] if self.older_message else []
        parts += [f"older copies owed {sorted(self.older_copies)}"] if self.older_copies else []
        parts += [f"copies {sorted(self.copies)}"] if self.copies else []
        parts += ["a bad message"] if self.bad_message else []
        parts += ["a copy of a bad message"] if self.bad_copied else []
        parts += [] if self.original else ["no original"]
        parts += ["a thumbnail"] if self.thumbnail else []
        return ", ".join(parts)


Step = Callable[[Broker], Broker | None]
"""One effect; None where it is impossible."""


class Effect(NamedTuple):
    """What a move does here: a step, and a publish that its write owes. `generation` is the row's before."""

    step: Step
    owes: Owed | None = None
    generation: int = 0


def perform(effect: Effect, broker: Broker, configuration: Configuration) -> Broker | None:
    after = effect.step(broker)
    if after is None:
        return None
    if effect.owes is not None:
        after = _supersede(after, effect.generation)._replace(owed=effect.owes)
    return after._replace(visible=min(after.visible, configuration.max_visible))


def _supersede(broker: Broker, generation: int) -> Broker:
    """A newer publish is owed: the record of the one before is no longer the latest."""
    older_copies = broker.older_copies | {generation} if broker.owed is Owed.COPY else broker.older_copies
    return broker._replace(
        older_message=broker.older_message or broker.owed is Owed.MESSAGE, older_copies=older_copies
    )


def nothing(broker: Broker) -> Broker:
    return broker


def receive(broker: Broker) -> Broker | None:
    return broker._replace(visible=broker.visible - 1) if broker.visible else None


def show(broker: Broker) -> Broker:
    """A message becomes visible: sent, or its timer has run out."""
    return broker._replace(visible=broker.visible + 1)


def take_undelivered(broker: Broker) -> Broker | None:
    return broker._replace(undelivered=0) if broker.undelivered else None


def return_undelivered(broker: Broker) -> Broker:
    return broker._replace(undelivered=1)


def receive_bad(broker: Broker) -> Broker | None:
    return broker._replace(bad_message=False) if broker.bad_message else None


def copy_rejected(broker: Broker) -> Broker:
    return broker._replace(bad_copied=True)


def return_bad(broker: Broker) -> Broker:
    return broker._replace(bad_message=True)


def put_thumbnail(broker: Broker) -> Broker:
    return broker._replace(thumbnail=True)


def remove_objects(broker: Broker) -> Broker:
    return broker._replace(original=False, thumbnail=False)


def find_given_up(broker: Broker) -> Broker | None:
    return broker if broker.owed in GIVEN_UP.values() else None


def drop_given_up(broker: Broker) -> Broker | None:
    """The reconciler deletes the relay's failure record of a row that owes nothing."""
    return broker._replace(owed=Owed.NOTHING) if broker.owed in GIVEN_UP.values() else None


@cache
def find_copy(generation: int) -> Step:
    return lambda broker: broker if generation in broker.copies else None


@cache
def delete_copy(generation: int) -> Step:
    return lambda broker: broker._replace(copies=broker.copies - {generation})


@cache
def row_gone(generation: int) -> Step:
    """Nothing is the latest of a row that is gone; its records are in the stream all the same."""
    return lambda broker: _supersede(broker, generation)._replace(owed=Owed.NOTHING)


class BrokerMove(NamedTuple):
    label: str
    after: Broker
    fair: bool
    takes_returned: bool = False
    """It takes a visible message that an earlier receiver still holds a handle for."""


def broker_moves(row: MaybeRow, broker: Broker, configuration: Configuration) -> Iterator[BrokerMove]:
    yield from _relay_moves(row, broker, configuration)
    if configuration.undelivered and not broker.undelivered:
        given_up = broker._replace(undelivered=1)
        yield BrokerMove("SQS gives up on a returned message", given_up, fair=False, takes_returned=True)
        if broker.visible:
            given_up = given_up._replace(visible=broker.visible - 1)
            yield BrokerMove("SQS gives up on a message", given_up, fair=False)
    if configuration.bad_messages and not broker.bad_message:
        yield BrokerMove("a bad message appears", broker._replace(bad_message=True), fair=False)


def _relay_moves(row: MaybeRow, broker: Broker, configuration: Configuration) -> Iterator[BrokerMove]:
    """Publish, then checkpoint. Records of other kinds commute, so their order does not matter."""
    most = configuration.max_visible
    more = broker._replace(visible=min(broker.visible + 1, most))
    published: list[tuple[str, Broker, Broker, Broker]] = []  # label, both done, only published, lost
    if broker.owed is Owed.MESSAGE:
        lost = broker._replace(owed=Owed.MESSAGE_GIVEN_UP)
        published.append(("the message", more._replace(owed=Owed.NOTHING), more, lost))
    if broker.owed is Owed.COPY and row is not None:
        copied = broker._replace(copies=broker.copies | {row.generation})
        lost = broker._replace(owed=Owed.COPY_GIVEN_UP)
        published.append(("the copy", copied._replace(owed=Owed.NOTHING), copied, lost))
    if broker.older_message:
        lost = broker._replace(older_message=False)
        published.append(("an older message", more._replace(older_message=False), more, lost))
    for generation in sorted(broker.older_copies):
        rest = broker.older_copies - {generation}
        copied = broker._replace(copies=broker.copies | {generation})
        lost = broker._replace(older_copies=rest)
        published.append((f"an older copy {generation}", copied._replace(older_copies=rest), copied, lost))
    for what, done, repeated, lost in published:
        yield BrokerMove(f"the relay publishes {what}", done, fair=True)
        if configuration.repeated_records:
            yield BrokerMove(
                f"the relay publishes {what} and dies before its checkpoint", repeated, fair=False
            )
        if configuration.lost_records:
            yield BrokerMove(f"the relay gives up on {what}", lost, fair=False)
