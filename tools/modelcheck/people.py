"""The operator, who redrives from a copy or by id, and the client, who deletes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from thumbline.domain.job import Status
from thumbline.domain.transitions import deletion, redrive
from tools.modelcheck.broker import Effect, delete_copy, find_copy, nothing, remove_objects
from tools.modelcheck.configuration import Configuration
from tools.modelcheck.moves import Move
from tools.modelcheck.rows import JOB_ID, MaybeRow
from tools.modelcheck.writing import MOMENT, Refused, write


class Intent(StrEnum):
    NONE = "idle"
    FROM_COPY = "about to redrive from a copy"
    BY_ID = "about to redrive by id"
    DISCARD = "about to delete the copy"


class Operator(NamedTuple):
    intent: Intent = Intent.NONE
    generation: int = 0
    """The copy's, or the row's as it was read."""

    def __str__(self) -> str:
        return f"operator {self.intent} of generation {self.generation}" if self.generation else "idle"


class Client(StrEnum):
    IDLE = "idle"
    REMOVING = "client's delete about to remove the objects"


OPERATOR_IDLE = Operator()
OperatorMove = Move[Operator]
ClientMove = Move[Client]


class OperatorMoves:
    """Nothing of this is fair: nobody has to come. A subclass may misplace a step."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def of(self, row: MaybeRow, operator: Operator) -> Iterator[OperatorMove]:
        match operator.intent:
            case Intent.NONE:
                yield from self._begin(row)
            case Intent.DISCARD:
                yield from self.discard(row, operator)
                yield Move("the operator goes away", row, OPERATOR_IDLE, fair=False)
            case _:
                yield from self.redrive(row, operator)

    def _begin(self, row: MaybeRow) -> Iterator[OperatorMove]:
        for generation in range(1, self._configuration.generations + 1):
            reading = Operator(Intent.FROM_COPY, generation)
            effect = Effect(find_copy(generation))
            yield Move("the operator reads a copy", row, reading, effect, fair=False)
        if row is not None and row.status is Status.FAILED and not row.deleted:
            reading = Operator(Intent.BY_ID, row.generation)
            yield Move("the operator reads the failed row", row, reading, fair=False)

    def redrive(self, row: MaybeRow, operator: Operator) -> Iterator[OperatorMove]:
        asked = operator.generation
        written = write(
            row,
            lambda: redrive.redrive(JOB_ID, asked, operator="operator", moment=MOMENT),
            names_generation=asked,
        )
        by_copy = operator.intent is Intent.FROM_COPY
        then = Operator(Intent.DISCARD, asked) if by_copy else OPERATOR_IDLE
        if isinstance(written, Refused):
            yield Move("a redrive is refused", row, then, fair=False)
            return
        if written.violation is None and _beyond(written.row, self._configuration):
            return
        yield Move(
            "the operator redrives",
            written.row,
            then,
            Effect(nothing, written.owes, written.generation),
            written.changed,
            fair=False,
            violation=written.violation,
        )

    def discard(self, row: MaybeRow, operator: Operator) -> Iterator[OperatorMove]:
        effect = Effect(delete_copy(operator.generation))
        yield Move("the operator deletes the copy", row, OPERATOR_IDLE, effect, fair=False)


def client_moves(row: MaybeRow, client: Client) -> Iterator[ClientMove]:
    """Which of the two deletes it is was decided by an earlier reading, so both are tried."""
    if client is Client.REMOVING:
        yield Move("the client's objects are removed", row, Client.IDLE, Effect(remove_objects), fair=False)
        yield Move("the delete's function dies", row, Client.IDLE, fair=False)
        return
    for make in (deletion.delete_open, deletion.delete_terminal):
        written = write(row, lambda make=make: make(JOB_ID, MOMENT))  # type: ignore[misc]
        if not isinstance(written, Refused):
            yield Move(
                "the client deletes",
                written.row,
                Client.REMOVING,
                Effect(nothing, written.owes, written.generation),
                written.changed,
                fair=False,
                violation=written.violation,
            )


def _beyond(row: MaybeRow, configuration: Configuration) -> bool:
    return row is not None and row.generation > configuration.generations
