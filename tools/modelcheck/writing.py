"""Tries one transition of `thumbline.domain` on an abstract row, and judges what it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from thumbline.domain import transition as rules
from thumbline.domain.job import Job
from thumbline.domain.row import holds
from thumbline.domain.transition import Moment, Transition, TransitionRefusedError
from thumbline.ports.queue import MessageSender
from thumbline.service.relay_outbox import OutboxRecord, relay_outbox
from tools.modelcheck.broker import Owed
from tools.modelcheck.invariants import judge_write
from tools.modelcheck.rows import CLOCK, MINE, TIMINGS, AbstractRow, MaybeRow, abstract, concrete

MOMENT = Moment(CLOCK, MINE, TIMINGS)

WRITTEN, TOKEN, AVAILABLE, REPUBLISHED, CHECK, GENERATION, SEQUENCE, TAKEN = (1 << bit for bit in range(8))
"""What a move changed, for those who remember it from before. TAKEN: a message that an earlier receiver still
has a handle for went to somebody else."""

_CHANGES = {
    "write_id": WRITTEN,
    "fencing_token": TOKEN,
    "available_at": AVAILABLE,
    "republish_count": REPUBLISHED,
    "next_check_at": CHECK,
    "generation": GENERATION,
    "outbox_seq": SEQUENCE,
}


class Written(NamedTuple):
    row: MaybeRow
    changed: int
    owes: Owed | None
    """None where nothing new is owed; NOTHING where the sequence moved and the relay will publish nothing."""
    generation: int
    """The row's before."""
    violation: str | None


class Refused(NamedTuple):
    job: Job | None


def write(
    row: MaybeRow,
    make: Callable[[], Transition],
    *,
    owns: bool = True,
    shown: bool = False,
    names_generation: int | None = None,
) -> Written | Refused:
    """`owns`: the writer's token is the row's. `shown`: the row's last write is this very one, unheard.

    `names_generation`: the generation that a redrive was asked for.
    """
    if row is None:
        return Refused(None)
    before = concrete(row) | ({"write_id": MINE} if shown else {})
    transition = make()
    try:
        after = rules.apply(transition, before)
    except TransitionRefusedError as refused:
        return Refused(refused.job)
    violation = judge_write(transition.name, before, after, owns=owns, names_generation=names_generation)
    if shown and after != before:
        violation = violation or "I5: a write whose success was not heard was done again by its retry"
    changed = sum(bit for name, bit in _CHANGES.items() if before.get(name) != after.get(name))
    owes = owed_by(before, after) if changed & SEQUENCE else None
    return Written(abstract(after), changed, owes, row.generation, violation)


def purged(row: AbstractRow, transition: Transition) -> bool:
    return holds(transition.condition, concrete(row))


def owed_by(before: dict[str, Any], after: dict[str, Any]) -> Owed:
    """Asks the relay itself what it publishes for this record."""
    work_queue, dead_letters = _Sent(), _Sent()
    record = OutboxRecord("1", lambda: (before, after))
    relay_outbox([record], work_queue=work_queue, dead_letters=dead_letters, clock=_StoppedClock())
    if work_queue.count:
        return Owed.MESSAGE
    return Owed.COPY if dead_letters.count else Owed.NOTHING


class _Sent(MessageSender):
    def __init__(self) -> None:
        self.count = 0

    def send(self, messages: Any) -> tuple[int, ...]:
        self.count += len(messages)
        return ()


class _StoppedClock:
    def now(self) -> int:
        return CLOCK
