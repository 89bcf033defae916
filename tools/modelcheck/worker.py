"""One worker, as `service/process_delivery` has it: claim, render, put, the end in the row, then the ack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from thumbline.domain import checkup
from thumbline.domain.checkup import Delivery
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure, Job, Result
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.domain.transition import Transition
from thumbline.domain.transitions import attempt, unleased
from tools.modelcheck import writing
from tools.modelcheck.broker import (
    Broker,
    Effect,
    copy_rejected,
    nothing,
    put_thumbnail,
    receive,
    receive_bad,
    return_bad,
    show,
)
from tools.modelcheck.configuration import Configuration
from tools.modelcheck.moves import Move
from tools.modelcheck.rows import CLOCK, JOB_ID, LATER_MS, TIMINGS, TOKEN, Lease, MaybeRow, described_job
from tools.modelcheck.writing import MOMENT, Refused, Written, write


class Phase(StrEnum):
    IDLE = "idle"
    RECEIVED = "received"
    EXHAUSTING = "about to fail the job as exhausted"
    EXPIRING = "about to expire the job"
    WORKING = "working"
    STORED = "thumbnail stored"
    ENDING = "about to write the end again"
    ACKING = "about to acknowledge"
    REJECTING = "copied a bad message"


class Handle(StrEnum):
    """What a worker's receipt handle is worth."""

    NONE = "no message"
    HELD = "holds the message"
    RETURNED = "its message is visible again"
    STALE = "its message went to another"


class Unheard(StrEnum):
    """A write that succeeded without an answer."""

    NO = ""
    SHOWN = "its unheard write is the row's last"
    COVERED = "its unheard write was followed by another"


class Worker(NamedTuple):
    phase: Phase = Phase.IDLE
    handle: Handle = Handle.NONE
    owns: bool = False
    """Its token is the row's."""
    last: bool = False
    """It knows its attempt to be the last one."""
    unheard: Unheard = Unheard.NO
    ending: str = ""
    """How the attempt ends, where that is written again."""

    @property
    def is_late(self) -> bool:
        """It may still put an object."""
        return self.phase in (Phase.WORKING, Phase.STORED)

    @property
    def has_message(self) -> bool:
        """Its message exists, hidden or visible again, as long as nobody else has taken it."""
        return self.handle in (Handle.HELD, Handle.RETURNED)

    def after(self, changed: int) -> Worker:
        """What it is when somebody else changed the row or took a message."""
        worker = self
        if changed & writing.TOKEN and worker.owns:
            worker = worker._replace(owns=False)
        if changed & writing.WRITTEN and worker.unheard is Unheard.SHOWN:
            worker = worker._replace(unheard=Unheard.COVERED)
        if changed & writing.TAKEN and worker.handle is Handle.RETURNED:
            worker = worker._replace(handle=Handle.STALE)
        return worker

    def __str__(self) -> str:
        if self == IDLE:
            return "idle"
        parts = [f"worker {self.phase}"]
        parts += [] if self.handle in (Handle.NONE, Handle.HELD) else [str(self.handle)]
        parts += ["without the token"] if self.is_late and not self.owns else []
        parts += [str(self.unheard)] if self.unheard else []
        return ", ".join(parts)


IDLE = Worker()
WorkerMove = Move[Worker]

_FAILURE = Failure(FailureCode.RENDER_CRASHED, "died", retryable=True)
_RESULTS = {DEFAULT_PRESET.name: Result(key="k", sha256="00", width=1, height=1, bytes=1, type="image/jpeg")}


def _is_held(row: MaybeRow) -> bool:
    """What a look at the row tells the receiver of a bad message: it bounces."""
    return row is not None and row.is_open and row.lease is Lease.LIVE


def _receive_and_copy(broker: Broker) -> Broker | None:
    received = receive(broker)
    return None if received is None else copy_rejected(received)


def _receive_and_copy_bad(broker: Broker) -> Broker | None:
    received = receive_bad(broker)
    return None if received is None else copy_rejected(received)


class WorkerMoves:
    """A subclass may misplace a step, to show that the search finds it."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def of(self, row: MaybeRow, worker: Worker) -> Iterator[WorkerMove]:
        if worker.phase is Phase.IDLE:
            yield from self._receive(row)
            return
        if worker.handle is Handle.HELD:
            returned = worker._replace(handle=Handle.RETURNED)
            yield Move("a message's visibility timer runs out under a worker", row, returned)
        if self._configuration.crashes and worker.phase is not Phase.RECEIVED:
            yield self._put_back("a worker dies", row, worker, fair=False)
        match worker.phase:
            case Phase.RECEIVED:
                yield from self.claim(row, worker)
            case Phase.EXHAUSTING:
                yield from self._settle(
                    row, worker, "fails the job as exhausted", self._exhaust_abandoned(row)
                )
            case Phase.EXPIRING:
                yield from self._settle(
                    row, worker, "expires the job", lambda: unleased.expire(JOB_ID, MOMENT)
                )
            case Phase.WORKING:
                yield from self._beat(row, worker)
                yield from self._work(row, worker)
            case Phase.STORED:
                yield from self._end(row, worker, "complete")
            case Phase.ENDING:
                yield from self._end(row, worker, worker.ending)
            case Phase.ACKING:
                yield from self.acknowledge(row, worker)
            case Phase.REJECTING:
                yield from self.reject(row, worker)

    def _receive(self, row: MaybeRow) -> Iterator[WorkerMove]:
        received = Worker(Phase.RECEIVED, Handle.HELD)
        yield Move("a worker receives a message", row, received, Effect(receive))
        yield Move("a worker receives a returned message", row, received, takes_returned=True)
        if self._configuration.bad_messages:
            yield from self.receive_bad(row)
        if self._configuration.misread_messages:
            yield from self.misread(row)

    def receive_bad(self, row: MaybeRow) -> Iterator[WorkerMove]:
        """A message that nobody understands. It bounces off a live lease, and stays where it is."""
        if not _is_held(row):
            effect = Effect(_receive_and_copy_bad)
            yield Move("a worker copies the bad message", row, Worker(Phase.REJECTING), effect)

    def misread(self, row: MaybeRow) -> Iterator[WorkerMove]:
        """A good message that others understand. Nobody has to run this version, so nothing of it is fair."""
        if _is_held(row):
            label = "a worker bounces a message that it does not understand"
            yield Move(label, row, IDLE, Effect(show), fair=False, takes_returned=True)
            return
        rejecting = Worker(Phase.REJECTING, Handle.HELD)
        label = "a worker copies a message that it does not understand"
        yield Move(label, row, rejecting, Effect(_receive_and_copy), fair=False)
        yield Move(label, row, rejecting, Effect(copy_rejected), fair=False, takes_returned=True)

    def claim(self, row: MaybeRow, worker: Worker) -> Iterator[WorkerMove]:
        yield self._leave("a worker cannot reach the table, or dies", row, worker, fair=False)
        unheard = worker.unheard is Unheard.SHOWN
        claimed = write(row, lambda: attempt.claim(JOB_ID, MOMENT), shown=unheard)
        if isinstance(claimed, Written):
            assert claimed.row is not None
            last = claimed.row.attempts >= TIMINGS.attempt_cap
            working = Worker(Phase.WORKING, worker.handle, owns=True, last=last)
            yield self._written("a worker claims the job", claimed, working)
            if self._configuration.unknown_outcomes and worker.unheard is Unheard.NO:
                waiting = worker._replace(unheard=Unheard.SHOWN)
                yield self._written("a worker's claim succeeds unheard", claimed, waiting, fair=False)
                left = self._leave(
                    "a worker's claim succeeds unheard; it gives up", claimed, worker, fair=False
                )
                yield left
            return
        yield from self._refused_claim(row, worker, claimed)

    def _refused_claim(self, row: MaybeRow, worker: Worker, refused: Refused) -> Iterator[WorkerMove]:
        waiting = worker._replace(unheard=Unheard.NO)
        match checkup.explain_refused_claim(refused.job, CLOCK, TIMINGS).delivery:
            case Delivery.SKIP:
                acking = waiting._replace(phase=Phase.ACKING)
                yield Move("a worker finds nothing to do", row, acking)
            case Delivery.BOUNCE:
                broken = None
                if worker.unheard is Unheard.SHOWN:
                    broken = "I4: a live worker abandoned the attempt that it owns"
                left = self._leave("a worker bounces the message", row, waiting)
                yield left._replace(violation=broken)
            case Delivery.EXHAUST:
                yield Move("a worker finds the attempts spent", row, waiting._replace(phase=Phase.EXHAUSTING))
            case Delivery.EXPIRE:
                yield Move("a worker finds the deadline passed", row, waiting._replace(phase=Phase.EXPIRING))

    def _exhaust_abandoned(self, row: MaybeRow) -> Callable[[], Transition]:
        failure = attempt.exhausted_failure(None, described_job(row).attempts)
        return lambda: unleased.exhaust_abandoned(JOB_ID, failure, MOMENT)

    def _settle(
        self, row: MaybeRow, worker: Worker, what: str, make: Callable[[], Transition]
    ) -> Iterator[WorkerMove]:
        written = write(row, make, shown=worker.unheard is Unheard.SHOWN)
        received = Worker(Phase.RECEIVED, worker.handle)
        if isinstance(written, Refused):
            yield Move(f"a worker no longer {what}: the row has changed", row, received)
            return
        yield self._written(f"a worker {what}", written, received._replace(phase=Phase.ACKING))
        if self._configuration.unknown_outcomes and worker.unheard is Unheard.NO:
            again = worker._replace(unheard=Unheard.SHOWN)
            yield self._written(f"a worker {what}, unheard", written, again, fair=False)
            yield self._leave(f"a worker {what}, unheard, and gives up", written, worker, fair=False)

    def _beat(self, row: MaybeRow, worker: Worker) -> Iterator[WorkerMove]:
        written = write(row, lambda: attempt.extend_lease(self._token(worker), MOMENT), owns=worker.owns)
        if isinstance(written, Refused):
            yield self._leave("a heartbeat finds the lease lost", row, worker)
        elif written.violation is not None or written.row != row:
            yield self._written("a heartbeat extends the lease", written, worker)

    def _work(self, row: MaybeRow, worker: Worker) -> Iterator[WorkerMove]:
        if self._configuration.client:
            stored = worker._replace(phase=Phase.STORED)
            yield Move("a worker stores the thumbnail", row, stored, Effect(put_thumbnail))
        else:
            yield from self._end(row, worker, "complete")
        yield from self._end(row, worker, "fail")
        yield from self._end(row, worker, "exhaust" if worker.last else "release")
        if self._configuration.dependency_down:
            yield from self._end(row, worker, "give back")

    def _end(self, row: MaybeRow, worker: Worker, ending: str) -> Iterator[WorkerMove]:
        shown = worker.unheard is Unheard.SHOWN
        written = write(row, self._ending(row, worker, ending), owns=worker.owns, shown=shown)
        if isinstance(written, Refused):
            if refused_by_terminal(written.job):
                acking = Worker(Phase.ACKING, worker.handle)
                yield Move(f"a worker cannot {ending}: another ended the job", row, acking)
                return
            broken = None
            if row is not None and worker.owns and row.lease is Lease.LIVE:
                broken = f"I4: the owner of a live attempt could not {ending}, and abandoned it"
            left = self._leave(f"a worker cannot {ending}: it lost its lease", row, worker)
            yield left._replace(violation=broken)
            return
        yield from self._ended(written, worker, ending)

    def _ended(self, written: Written, worker: Worker, ending: str) -> Iterator[WorkerMove]:
        label = f"a worker writes: {ending}"
        if ending in ("release", "give back"):
            yield self._leave(label, written, worker)
        else:
            acking = Worker(Phase.ACKING, worker.handle)
            move = self._written(label, written, acking)
            yield move._replace(completes=ending == "complete" and bool(written.changed))
        if self._configuration.unknown_outcomes and worker.unheard is Unheard.NO:
            again = worker._replace(phase=Phase.ENDING, unheard=Unheard.SHOWN, ending=ending)
            yield self._written(f"{label}, unheard", written, again, fair=False)
            yield self._leave(f"{label}, unheard, and gives up", written, worker, fair=False)

    def _ending(self, row: MaybeRow, worker: Worker, ending: str) -> Callable[[], Transition]:
        token = self._token(worker)
        match ending:
            case "complete":
                return lambda: attempt.complete(JOB_ID, token, _RESULTS, MOMENT)
            case "fail":
                permanent = Failure(FailureCode.CORRUPT, "damaged", retryable=False)
                return lambda: attempt.fail(JOB_ID, token, permanent, MOMENT)
            case "exhaust":
                exhausted = attempt.exhausted_failure(_FAILURE, TIMINGS.attempt_cap)
                return lambda: attempt.exhaust(JOB_ID, token, exhausted, MOMENT)
        claimed: Job = replace(described_job(row), fencing_token=token)
        return lambda: attempt.release(
            claimed,
            _FAILURE,
            available_at=CLOCK + LATER_MS,
            give_attempt_back=ending == "give back",
            moment=MOMENT,
        )

    def acknowledge(self, row: MaybeRow, worker: Worker) -> Iterator[WorkerMove]:
        """A handle still deletes a message that is visible again, and nothing of one that another has."""
        yield Move("a worker acknowledges", row, IDLE)
        if self._configuration.kept_messages and worker.handle is Handle.HELD:
            yield Move("a worker acknowledges, and the message stays", row, IDLE, Effect(show), fair=False)

    def reject(self, row: MaybeRow, worker: Worker) -> Iterator[WorkerMove]:
        """The copy is in the dead-letter queue already; then the row, then the ack, which is atomic here.

        A claim may have come between the look at the row and this write: then the message goes back.
        """
        written = write(row, lambda: unleased.reject_message(JOB_ID, "unreadable", MOMENT))
        if isinstance(written, Refused):
            if row is not None and row.is_open:
                yield self._put_back("a worker bounces a message that it has copied", row, worker)
            else:
                yield Move("a worker leaves the row of a bad message", row, IDLE)
        else:
            yield self._written("a worker fails the job of a bad message", written, IDLE)

    def _put_back(self, label: str, row: MaybeRow, worker: Worker, *, fair: bool = True) -> WorkerMove:
        if worker.phase is Phase.REJECTING and worker.handle is Handle.NONE:
            return Move(label, row, IDLE, Effect(return_bad), fair=fair)
        return self._leave(label, row, worker, fair=fair)

    def _written(self, label: str, written: Written, local: Worker, *, fair: bool = True) -> WorkerMove:
        return Move(
            label,
            written.row,
            local,
            Effect(nothing, written.owes, written.generation),
            written.changed,
            fair=fair,
            violation=written.violation,
        )

    def _leave(
        self, label: str, state: MaybeRow | Written, worker: Worker, *, fair: bool = True
    ) -> WorkerMove:
        """To idle without an ack: its message is visible again, sooner or later."""
        step = show if worker.has_message else nothing
        if isinstance(state, Written):
            return self._written(label, state, IDLE, fair=fair)._replace(
                effect=Effect(step, state.owes, state.generation)
            )
        return Move(label, state, IDLE, Effect(step), fair=fair)

    def _token(self, worker: Worker) -> int:
        return TOKEN if worker.owns else TOKEN - 1


def refused_by_terminal(job: Job | None) -> bool:
    return job is None or not job.is_open
