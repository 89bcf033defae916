"""The actors do what the use cases do: each is run alone on every kind of row, beside the real one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import product
from typing import Any

import pytest

from tests.world import World, request_for
from thumbline.adapters.memory.clock import ManualClock
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Job, Status
from thumbline.domain.keys import Phase
from thumbline.domain.messages import OutgoingMessage, exhausted_copy
from thumbline.domain.transitions.attempt import claim
from thumbline.service.reconcile.allowance import Allowance
from thumbline.service.reconcile.drain_undelivered import drain_undelivered
from thumbline.service.reconcile.reconciler import Healed, ReconcileReport
from thumbline.service.reconcile.renew_owed import renew_owed
from thumbline.service.reconcile.treat_due_jobs import treat_due_jobs
from thumbline.service.redrive_job import redrive_copy, redrive_job
from tools.modelcheck import people, reconciler, worker
from tools.modelcheck.broker import Broker, Owed, perform
from tools.modelcheck.configuration import Configuration
from tools.modelcheck.moves import Move
from tools.modelcheck.people import OperatorMoves
from tools.modelcheck.reconciler import PassMoves
from tools.modelcheck.rows import (
    CLOCK,
    JOB_ID,
    TIMINGS,
    AbstractRow,
    Check,
    Lease,
    MaybeRow,
    abstract,
    concrete,
)
from tools.modelcheck.worker import WorkerMoves
from tools.modelcheck.writing import owed_by

ALL = Configuration(
    name="all", undelivered=True, deadline=True, operator=True, retention=True, crashes=False, generations=3
)
TIME = Allowance.of(lambda: 55.0)
PICTURE = b"a picture"
Outcome = tuple[MaybeRow, int, int, int]
"""The row after; how many messages are in the work queue, in the undelivered queue, and how many copies."""


def _open_rows() -> Iterator[AbstractRow]:
    for attempts, available, overdue in product((0, 1, 2), (True, False), (True, False)):
        yield AbstractRow(Status.QUEUED, attempts, available=available, overdue=overdue)
    for attempts, lease, overdue in product((1, 2), (Lease.LIVE, Lease.DEAD), (True, False)):
        yield AbstractRow(Status.RUNNING, attempts, lease=lease, overdue=overdue)


def _terminal_rows() -> Iterator[AbstractRow]:
    for deleted in (True, False):
        yield AbstractRow(Status.SUCCEEDED, results=True, expires=True, deleted=deleted)
        yield AbstractRow(Status.FAILED, 0 if deleted else 1, 2, expires=True, deleted=deleted)
    yield AbstractRow(Status.FAILED, 2, expires=True, exhausted=True)


ROWS = [*_open_rows(), *_terminal_rows()]
each_row = pytest.mark.parametrize("row", [*ROWS, None], ids=str)


def world_with(row: MaybeRow) -> World:
    world = World(clock=ManualClock(CLOCK), timings=TIMINGS)
    if row is not None:
        record = IdempotencyRecord(record_id="key", fingerprint="", job_id=JOB_ID, expires_at=0)
        world.tables.accept(Job.from_row(concrete(row)), record)
        world.objects.put_original(f"originals/{JOB_ID}", PICTURE, sha256(PICTURE).hexdigest())
    return world


def outcome_in(world: World) -> Outcome:
    row = world.tables.rows.get(JOB_ID)
    queues = (world.work_queue, world.undelivered, world.dead_letters)
    visible, undelivered, copies = (len(queue.messages) for queue in queues)
    return None if row is None else abstract(row), visible, undelivered, copies


def alone(
    moves_of: Callable[[MaybeRow, Any], Iterable[Move[Any]]],
    row: MaybeRow,
    idle: object,
    broker: Broker,
    *,
    avoid: str,
) -> set[Outcome]:
    """Where the model's actor may be idle again; where it was if it finds nothing to do."""
    ends: set[Outcome] = set()
    waiting: list[tuple[MaybeRow, Any, Broker]] = [(row, idle, broker)]
    while waiting:
        before, local, queues = waiting.pop()
        possible = [
            (move, after)
            for move in moves_of(before, local)
            if avoid not in move.label and not move.takes_returned
            if (after := perform(move.effect, queues, ALL)) is not None
        ]
        if not possible:
            ends.add(_outcome(before, queues))
        for move, after in possible:
            if move.local == idle:
                ends.add(_outcome(move.row, after))
            else:
                waiting.append((move.row, move.local, after))
    return ends


def _outcome(row: MaybeRow, broker: Broker) -> Outcome:
    visible = broker.visible + broker.bad_message
    return row, visible, broker.undelivered, len(broker.copies) + broker.bad_copied


@each_row
def test_the_undelivered_queue(row: MaybeRow) -> None:
    world = world_with(row)
    world.undelivered.send([OutgoingMessage(request_for(JOB_ID))])
    moves = PassMoves(ALL)

    drain_undelivered(world.reconciler, ReconcileReport(), TIME)

    def taking(before: MaybeRow, local: reconciler.Pass) -> Iterable[Move[reconciler.Pass]]:
        return moves.look_at_undelivered(before) if local == reconciler.IDLE else moves.of(before, local)

    assert alone(taking, row, reconciler.IDLE, Broker(undelivered=1), avoid="dies") == {outcome_in(world)}


@pytest.mark.parametrize("row", [row for row in ROWS if row.status is not Status.RUNNING], ids=str)
def test_what_the_relay_gave_up_on(row: AbstractRow) -> None:
    """The reconciler owes it again, or drops it."""
    world = world_with(row)
    (record,) = world.tables.stream
    world.relay_failures.send([OutgoingMessage(lost_batch(record.sequence_number))])
    broker = Broker(owed=Owed.COPY_GIVEN_UP if row.exhausted else Owed.MESSAGE_GIVEN_UP)
    (look,) = PassMoves(ALL).look_at_given_up(row)
    moves = [look] if look.local == reconciler.IDLE else PassMoves(ALL).of(row, look.local)

    renew_owed(world.reconciler, ReconcileReport(), TIME)

    (after,) = [perform(move.effect, broker, ALL) for move in moves]
    assert after is not None
    assert not world.relay_failures.messages
    owed = [owed_by(dict(one.old or {}), dict(one.new or {})) for one in world.tables.stream[1:]]
    assert owed == ([] if after.owed is Owed.NOTHING else [after.owed])


def lost_batch(sequence_number: str) -> str:
    info = {
        "streamArn": "arn",
        "shardId": "shard",
        "startSequenceNumber": sequence_number,
        "endSequenceNumber": sequence_number,
    }
    return json.dumps({"DDBStreamBatchInfo": info})


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_due_row(row: AbstractRow) -> None:
    row = row._replace(check=Check.SOON)
    world = world_with(row)

    treat_due(world, expected_wait_ms=0)

    moves = PassMoves(replace(ALL, undelivered=False))
    expected = alone(moves.of, row, reconciler.IDLE, Broker(), avoid="backlog")
    assert expected == {outcome_in(world)}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_check_that_is_postponed(row: AbstractRow) -> None:
    """Until the same moment, without a backlog and with one that explains any wait."""
    row = row._replace(check=Check.SOON)
    looks = PassMoves(replace(ALL, undelivered=False, stepwise=True)).of(row, reconciler.IDLE)

    postponed = set()
    for expected_wait_ms in (0, None):
        world = world_with(row)
        if treat_due(world, expected_wait_ms).counts[Healed.POSTPONED]:
            postponed.add(world.tables.rows[JOB_ID]["next_check_at"])

    assert {look.local.until for look in looks} - {0} == postponed


def treat_due(world: World, expected_wait_ms: int | None) -> ReconcileReport:
    report = ReconcileReport()
    report.expected_wait_ms = expected_wait_ms
    for phase in Phase:
        treat_due_jobs(phase, world.reconciler, report, TIME)
    assert not report.errors
    return report


@each_row
@pytest.mark.parametrize("generation", [1, 2])
def test_a_redrive_from_a_copy(row: MaybeRow, generation: int) -> None:
    world = world_with(row)
    described = AbstractRow(Status.FAILED, 2, generation, exhausted=True)
    world.dead_letters.send([exhausted_copy(Job.from_row(concrete(described)))])
    (copy,) = world.dead_letters.receive(1)

    redrive_copy(copy, world.redriver("operator"))

    broker = Broker(copies=frozenset({generation}))
    by_copy = alone(OperatorMoves(ALL).of, row, people.OPERATOR_IDLE, broker, avoid="failed row")
    assert {end for end in by_copy if not end[3]} == {outcome_in(world)}


@each_row
def test_a_redrive_by_id(row: MaybeRow) -> None:
    world = world_with(row)

    redrive_job(JOB_ID, world.redriver("operator"))

    by_id = alone(OperatorMoves(ALL).of, row, people.OPERATOR_IDLE, Broker(), avoid="copy")
    assert by_id == {outcome_in(world)}


ENDINGS: dict[str, Exception | None] = {
    "success": None,
    "permanent": PermanentError(FailureCode.CORRUPT, "damaged"),
    "transient": TransientError(FailureCode.RENDER_CRASHED, "died"),
}


@each_row
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_delivery(row: MaybeRow, ending: str) -> None:
    """Not the timers: a message that will be visible again is one that is visible."""
    world = world_with(row)
    world.jitter = 1.0
    error = ENDINGS[ending]
    if error is not None:
        world.renderer.behaviours[PICTURE] = lambda: _raise(error)
    world.send_to_work_queue(request_for(JOB_ID))

    world.work()

    possible = alone(WorkerMoves(ALL).of, row, worker.IDLE, Broker(visible=1), avoid="timer runs out")
    real, *queues = outcome_in(world)
    assert (*queues,) in {tuple(end[1:]) for end in possible if _alike(end[0], real)}


@each_row
@pytest.mark.parametrize("understood", [False, True], ids=["by nobody", "by others"])
def test_a_message_that_a_worker_does_not_understand(row: MaybeRow, understood: bool) -> None:
    """It bounces off a live lease and leaves no copy; else it is copied, fails an open job, and goes."""
    world = world_with(row)
    world.send_to_work_queue(request_for(JOB_ID).replace(": 1", ": 99"))
    moves = WorkerMoves(replace(ALL, bad_messages=not understood, misread_messages=understood))

    world.work()

    def receiving(before: MaybeRow, local: worker.Worker) -> Iterable[Move[worker.Worker]]:
        if local != worker.IDLE:
            return moves.of(before, local)
        return moves.misread(before) if understood else moves.receive_bad(before)

    broker = Broker(visible=1) if understood else Broker(bad_message=True)
    assert alone(receiving, row, worker.IDLE, broker, avoid="timer runs out") == {outcome_in(world)}


def test_a_claim_between_the_look_at_a_row_and_the_rejection() -> None:
    """The message goes back: it may be what the other attempt lives on."""
    world = world_with(AbstractRow(Status.QUEUED))
    world.send_to_work_queue(request_for(JOB_ID).replace(": 1", ": 99"))

    def claim_first(event: str) -> None:
        if event == "before reject_message":
            world.faults.watch = None
            world.tables.apply(JOB_ID, claim(JOB_ID, world.moment()))

    world.faults.watch = claim_first
    world.work()

    def rejecting(before: MaybeRow, _local: worker.Worker) -> Iterable[Move[worker.Worker]]:
        return WorkerMoves(ALL).of(before, worker.Worker(worker.Phase.REJECTING))

    claimed = AbstractRow(Status.RUNNING, 1, lease=Lease.LIVE)
    broker = Broker(bad_copied=True)
    assert alone(rejecting, claimed, worker.IDLE, broker, avoid="dies") == {outcome_in(world)}


def _raise(error: Exception) -> None:
    raise error


def _alike(model: MaybeRow, real: MaybeRow) -> bool:
    """A backoff of seconds is within the skew, or is not: the model takes the longer one."""
    if model is None or real is None:
        return model is real
    return model._replace(available=True) == real._replace(available=True)
