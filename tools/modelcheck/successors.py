"""All steps out of a state, on numbers: (row, broker, workers…, passes…, operator, client)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from thumbline.domain.job import Status
from tools.modelcheck.broker import Broker, Effect, Owed, broker_moves, perform
from tools.modelcheck.configuration import Configuration
from tools.modelcheck.graph import DRAINED, STARTABLE, SUCCEEDED
from tools.modelcheck.invariants import MESSAGE_HELD, judge_state
from tools.modelcheck.moves import Move
from tools.modelcheck.people import OPERATOR_IDLE, Client, client_moves
from tools.modelcheck.protocol import Protocol
from tools.modelcheck.reconciler import IDLE as PASS_IDLE
from tools.modelcheck.reconciler import Pass
from tools.modelcheck.rows import ACCEPTED, TIMINGS, MaybeRow, passing_time
from tools.modelcheck.state import SHIFT, Numbers, State, Table
from tools.modelcheck.worker import IDLE as WORKER_IDLE
from tools.modelcheck.worker import Handle, Worker
from tools.modelcheck.writing import TAKEN

Numbered = tuple[int, ...]
_Environment = tuple[int, int, int, bool, bool]
"""Label, row, broker, fair, takes a returned message."""
Successor = tuple[int, Numbered, bool, bool, str | None]
"""Label, state, fair, completes the job, the invariant that the step itself breaks."""

_LOW = (1 << SHIFT) - 1
_ROW, _BROKER, _ACTORS = 0, 1, 2
_NOBODY = -1
_IMPOSSIBLE = -1


class _Compiled(NamedTuple):
    """A move in numbers. `brokers` maps the broker's number to the one after, or to _IMPOSSIBLE."""

    label: int
    row: int
    local: int
    brokers: Table[int, int]
    changed: int
    fair: bool
    completes: bool
    takes_returned: bool
    after_late_workers: bool
    violation: str | None


@dataclass(frozen=True, slots=True)
class _Kind:
    """All actors of one sort: how they move, and what they are after others have."""

    numbers: Numbers[Any]
    moves: Table[int, tuple[_Compiled, ...]]
    after: Table[int, Table[int, int]]


class Successors:
    def __init__(self, configuration: Configuration, protocol: Protocol) -> None:
        self._configuration = configuration
        self._rows: Numbers[MaybeRow] = Numbers()
        self._brokers: Numbers[Broker] = Numbers()
        self._labels: Numbers[str] = Numbers()
        self._effects: Table[Effect, Table[int, int]] = Table(self._effect_table)
        worker = self._kind(protocol.worker(configuration).of, WORKER_IDLE)
        a_pass = self._kind(protocol.reconciler(configuration).of, PASS_IDLE)
        workers, passes = configuration.workers, configuration.passes
        self._actors = [worker] * workers + [a_pass] * passes
        if configuration.operator:
            self._actors.append(self._kind(protocol.operator(configuration).of, OPERATOR_IDLE))
        if configuration.client:
            self._actors.append(self._kind(client_moves, Client.IDLE))
        self._slots = tuple(enumerate(self._actors, start=_ACTORS))
        self._workers = slice(_ACTORS, _ACTORS + workers)
        self._passes = slice(_ACTORS + workers, _ACTORS + workers + passes)
        pairs = ((workers, self._workers.start), (passes, self._passes.start))
        self._pairs = tuple(first for count, first in pairs if count == 2)
        self._environment = Table(self._environment_moves)
        self._verdicts = Table(self._verdict)
        self._pair_marks = Table(self._marks_of_pair)
        self._returned: Table[int, bool] = Table(
            lambda number: worker.numbers.values[number].handle is Handle.RETURNED
        )
        self._late: Table[int, bool] = Table(lambda number: worker.numbers.values[number].is_late)
        self._messages_of_workers: Table[int, bool] = Table(
            lambda number: worker.numbers.values[number].has_message
        )
        self._messages_of_passes: Table[int, bool] = Table(
            lambda number: a_pass.numbers.values[number].has_message
        )

    def initial(self) -> Numbered:
        """Just accepted: the row, and its first publish in the stream."""
        broker = self._brokers.of(Broker(owed=Owed.MESSAGE))
        return (self._rows.of(ACCEPTED), broker, *(0 for _ in self._actors))

    def of(self, state: Numbered) -> Iterator[Successor]:
        row, broker = state[_ROW], state[_BROKER]
        for label, row_after, broker_after, fair, takes in self._environment[row << SHIFT | broker]:
            changed = [row_after, broker_after, *state[_ACTORS:]]
            for after in self._takers(state, changed, _NOBODY) if takes else (changed,):
                yield label, self._sorted(after), fair, False, None
        for slot, kind in self._slots:
            for move in kind.moves[row << SHIFT | state[slot]]:
                broker_after = move.brokers[broker]
                if broker_after == _IMPOSSIBLE or (move.after_late_workers and self._has_late_worker(state)):
                    continue
                after = self._moved(state, slot, move, broker_after)
                for one in self._takers(state, after, slot) if move.takes_returned else (after,):
                    yield move.label, self._sorted(one), move.fair, move.completes, move.violation

    def broken(self, state: Numbered) -> str | None:
        """The invariant that this state breaks."""
        verdict = self._verdicts[state[_ROW] << SHIFT | state[_BROKER]]
        if verdict != MESSAGE_HELD:
            return verdict
        if any(self._messages_of_workers[number] for number in state[self._workers]):
            return None
        if any(self._messages_of_passes[number] for number in state[self._passes]):
            return None
        return "I10: an open job has no message, and none is owed"

    def marks(self, state: Numbered) -> int:
        marks = self._pair_marks[state[_ROW] << SHIFT | state[_BROKER]]
        if marks & DRAINED and any(state[_ACTORS : self._passes.stop]):
            return marks - DRAINED
        return marks

    def label(self, number: int) -> str:
        return self._labels.values[number]

    def decoded(self, state: Numbered) -> State:
        return State(
            self._rows.values[state[_ROW]],
            self._brokers.values[state[_BROKER]],
            tuple(kind.numbers.values[state[slot]] for slot, kind in self._slots),
        )

    def _moved(self, state: Numbered, slot: int, move: _Compiled, broker: int) -> list[int]:
        after = list(state)
        after[_ROW], after[_BROKER] = move.row, broker
        if move.changed:
            for other, kind in self._slots:
                after[other] = kind.after[move.changed][state[other]]
        after[slot] = move.local
        return after

    def _takers(self, state: Numbered, after: list[int], mover: int) -> Iterator[list[int]]:
        """Any other worker whose message is visible again may lose it to the mover."""
        for slot in range(self._workers.start, self._workers.stop):
            if slot != mover and self._returned[state[slot]]:
                taken = list(after)
                taken[slot] = self._actors[0].after[TAKEN][taken[slot]]
                yield taken

    def _sorted(self, state: list[int]) -> Numbered:
        """Workers are alike, and so are passes: which of them is which tells nothing."""
        for first in self._pairs:
            if state[first] > state[first + 1]:
                state[first], state[first + 1] = state[first + 1], state[first]
        return tuple(state)

    def _has_late_worker(self, state: Numbered) -> bool:
        return any(self._late[number] for number in state[self._workers])

    def _kind(self, moves_of: Callable[[MaybeRow, Any], Iterable[Move[Any]]], idle: Hashable) -> _Kind:
        numbers: Numbers[Any] = Numbers()
        numbers.of(idle)

        def compiled(key: int) -> tuple[_Compiled, ...]:
            row, local = self._rows.values[key >> SHIFT], numbers.values[key & _LOW]
            return tuple(self._compiled(move, numbers) for move in moves_of(row, local))

        def after(changed: int) -> Table[int, int]:
            return Table(lambda number: numbers.of(_after(numbers.values[number], changed)))

        return _Kind(numbers, Table(compiled), Table(after))

    def _compiled(self, move: Move[Any], numbers: Numbers[Any]) -> _Compiled:
        return _Compiled(
            label=self._labels.of(move.label),
            row=self._rows.of(move.row),
            local=numbers.of(move.local),
            brokers=self._effects[move.effect],
            changed=move.changed,
            fair=move.fair,
            completes=move.completes,
            takes_returned=move.takes_returned,
            after_late_workers=move.after_late_workers,
            violation=move.violation,
        )

    def _effect_table(self, effect: Effect) -> Table[int, int]:
        def after(number: int) -> int:
            broker = perform(effect, self._brokers.values[number], self._configuration)
            return _IMPOSSIBLE if broker is None else self._brokers.of(broker)

        return Table(after)

    def _environment_moves(self, key: int) -> tuple[_Environment, ...]:
        """What time does to the row, and what acts on the queues."""
        row, broker = self._rows.values[key >> SHIFT], self._brokers.values[key & _LOW]
        moves = [
            (self._labels.of(label), self._rows.of(later), key & _LOW, fair, False)
            for label, later, fair in passing_time(row, deadline=self._configuration.deadline)
        ]
        moves += [
            (
                self._labels.of(one.label),
                key >> SHIFT,
                self._brokers.of(one.after),
                one.fair,
                one.takes_returned,
            )
            for one in broker_moves(row, broker, self._configuration)
        ]
        return tuple(moves)

    def _verdict(self, key: int) -> str | None:
        row, broker = self._rows.values[key >> SHIFT], self._brokers.values[key & _LOW]
        return judge_state(row, broker, self._configuration)

    def _marks_of_pair(self, key: int) -> int:
        row, broker = self._rows.values[key >> SHIFT], self._brokers.values[key & _LOW]
        ended = row is None or not (row.is_open or row.deleted)
        marks = DRAINED if ended and broker.is_drained else 0
        if row is not None and row.status is Status.SUCCEEDED:
            marks |= SUCCEEDED
        if row is not None and row.status is Status.QUEUED and not row.overdue:
            startable = row.attempts < TIMINGS.attempt_cap and not self._configuration.may_reject
            marks |= STARTABLE if startable else 0
        return marks


def _after(local: Any, changed: int) -> Any:
    """The operator and the client remember nothing that others change."""
    return local.after(changed) if isinstance(local, Worker | Pass) else local
