"""One pass of the reconciler: due rows, the undelivered queue, what the relay gave up on.

Each write comes before its direct publish, or before the message that led to it is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from thumbline.domain import checkup
from thumbline.domain.checkup import Delivery, Diagnosis, Treatment
from thumbline.domain.dead_letters import owes_copy
from thumbline.domain.job import Job, Status
from thumbline.domain.transition import Transition
from thumbline.domain.transitions import attempt, deletion, recovery, unleased
from tools.modelcheck import writing
from tools.modelcheck.broker import (
    Broker,
    Effect,
    Step,
    drop_given_up,
    find_given_up,
    nothing,
    remove_objects,
    return_undelivered,
    row_gone,
    show,
    take_undelivered,
)
from tools.modelcheck.configuration import Configuration
from tools.modelcheck.moves import Move
from tools.modelcheck.rows import (
    AGES_MS,
    CLOCK,
    JOB_ID,
    NOW,
    TIMINGS,
    AbstractRow,
    Check,
    Lease,
    MaybeRow,
    described_job,
    job_of,
)
from tools.modelcheck.writing import MOMENT, Refused, Written, purged, write


class Task(StrEnum):
    IDLE = "idle"
    POSTPONE_QUEUED = "about to postpone a queued job's check"
    POSTPONE_RUNNING = "about to postpone a running job's check"
    REPUBLISH = "about to take the right to publish"
    RESCUE = "about to rescue"
    EXHAUST = "about to fail the job as exhausted"
    EXPIRE = "about to expire the job"
    SEND = "about to publish"
    RETIRE = "about to end the job's retention"
    CLEAN = "about to remove the objects"
    PURGE = "about to remove the row"
    HEAL_REQUEUE = "about to requeue an undelivered job"
    HEAL_EXHAUST = "about to fail an undelivered job as exhausted"
    HEAL_EXPIRE = "about to expire an undelivered job"
    RENEW = "about to owe again what the relay gave up on"
    DROP = "about to delete an undelivered message"


_POSTPONES = (Task.POSTPONE_QUEUED, Task.POSTPONE_RUNNING)
_TASKS = {
    Treatment.REPUBLISH: Task.REPUBLISH,
    Treatment.RESCUE: Task.RESCUE,
    Treatment.EXHAUST: Task.EXHAUST,
    Treatment.EXPIRE: Task.EXPIRE,
    Treatment.RETIRE: Task.RETIRE,
    Treatment.PURGE: Task.CLEAN,
}
_HOLDS_MESSAGE = {Task.HEAL_REQUEUE, Task.HEAL_EXHAUST, Task.HEAL_EXPIRE, Task.DROP}
_SEEN = writing.TOKEN | writing.AVAILABLE | writing.REPUBLISHED | writing.CHECK
_REMEMBERS = {
    Task.POSTPONE_QUEUED: writing.CHECK,
    Task.POSTPONE_RUNNING: writing.CHECK,
    Task.REPUBLISH: writing.AVAILABLE | writing.REPUBLISHED,
    Task.RESCUE: writing.TOKEN,
    Task.RENEW: writing.GENERATION | writing.SEQUENCE,
    Task.RETIRE: writing.CHECK,
    Task.CLEAN: writing.CHECK,
    Task.PURGE: writing.CHECK,
    Task.HEAL_REQUEUE: writing.TOKEN | writing.AVAILABLE,
}


class Pass(NamedTuple):
    task: Task = Task.IDLE
    changed: int = 0
    """What of the row that it read is no longer so, among what its write compares."""
    until: int = 0
    """When to look again, where that is all there is to do."""

    @property
    def has_message(self) -> bool:
        return self.task in _HOLDS_MESSAGE

    def after(self, changed: int) -> Pass:
        return self._replace(changed=self.changed | changed & _REMEMBERS.get(self.task, 0))

    def __str__(self) -> str:
        if self.task is Task.IDLE:
            return "idle"
        return f"reconciler {self.task}{', its reading outdated' if self.changed else ''}"


IDLE = Pass()
PassMove = Move[Pass]


class PassMoves:
    """A subclass may misplace a step, to show that the search finds it."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def of(self, row: MaybeRow, one: Pass) -> Iterator[PassMove]:
        if one.task is Task.IDLE:
            for move in self._look(row):
                yield from self._at_once(move)
            return
        if self._configuration.crashes:
            yield self._stop("the reconciler dies", row, one, fair=False)
        yield from self._act(row, one)

    def _at_once(self, move: PassMove) -> Iterator[PassMove]:
        """Unless steps are searched, nobody comes between; a crash between two effects still does."""
        if self._configuration.stepwise or move.local.task in (Task.IDLE, Task.CLEAN, Task.PURGE, Task.SEND):
            yield move
            return
        for act in self._act(move.row, move.local):
            step = _both(move.effect.step, act.effect.step)
            yield act._replace(
                label=f"{move.label}; {act.label}",
                effect=act.effect._replace(step=step),
                fair=move.fair and act.fair,
                after_late_workers=move.after_late_workers,
            )

    def _look(self, row: MaybeRow) -> Iterator[PassMove]:
        yield from self._look_at_due_row(row)
        if self._configuration.undelivered:
            yield from self.look_at_undelivered(row)
        if self._configuration.lost_records:
            yield from self.look_at_given_up(row)

    def _look_at_due_row(self, row: MaybeRow) -> Iterator[PassMove]:
        if row is None or row.check is Check.NEVER:
            return
        if not (row.is_open or row.deleted or self._configuration.retention):
            return
        due = replace(described_job(row), next_check_at=NOW - AGES_MS)
        for diagnosis, label in self._diagnoses(due).items():
            task = _TASKS.get(diagnosis.treatment)
            if diagnosis.treatment is Treatment.POSTPONE:
                task = Task.POSTPONE_QUEUED if row.status is Status.QUEUED else Task.POSTPONE_RUNNING
            if task is not None:
                yield Move(
                    label,
                    row,
                    Pass(task, until=diagnosis.check_at),
                    fair=task is not Task.RETIRE,
                    after_late_workers=row.check is Check.LATE,
                )

    def _diagnoses(self, due: Job) -> dict[Diagnosis, str]:
        """Of a row as it was read: without a backlog, and with one that explains any wait."""
        label = "the reconciler reads the due row"
        explained = checkup.diagnose(due, CLOCK, TIMINGS, None)
        return {explained: f"{label}; a backlog explains its wait"} | {
            checkup.diagnose(due, CLOCK, TIMINGS, 0): label
        }

    def look_at_undelivered(self, row: MaybeRow) -> Iterator[PassMove]:
        job = job_of(row)
        task = Task.HEAL_REQUEUE
        if job is None or job.is_deleted or not job.is_open:
            task = Task.DROP
        elif row is not None and row.lease is Lease.LIVE:
            return
        else:
            match checkup.explain_refused_claim(job, CLOCK, TIMINGS).delivery:
                case Delivery.EXHAUST:
                    task = Task.HEAL_EXHAUST
                case Delivery.EXPIRE:
                    task = Task.HEAL_EXPIRE
        label = "the reconciler takes an undelivered message"
        yield Move(label, row, Pass(task), Effect(take_undelivered))

    def look_at_given_up(self, row: MaybeRow) -> Iterator[PassMove]:
        """What the relay gave up on is owed again where the row still owes it.

        Of a RUNNING job it is left: that attempt may die, and its message may be gone.
        """
        if row is not None and row.status is Status.RUNNING:
            return
        job = job_of(row)
        label = "the reconciler reads the relay's failures"
        if job is None or job.is_deleted or not (job.status is Status.QUEUED or owes_copy(job)):
            yield Move(f"{label}, and drops one", row, IDLE, Effect(drop_given_up))
        else:
            yield Move(label, row, Pass(Task.RENEW), Effect(find_given_up))

    def _act(self, row: MaybeRow, one: Pass) -> Iterator[PassMove]:
        match one.task:
            case Task.SEND:
                yield Move("the reconciler publishes", row, IDLE, Effect(show))
            case Task.CLEAN:
                purging = one._replace(task=Task.PURGE)
                yield Move("the reconciler removes the objects", row, purging, Effect(remove_objects))
            case Task.PURGE:
                yield self._purge(row, one)
            case Task.DROP:
                yield Move("the reconciler deletes the undelivered message", row, IDLE)
            case _:
                yield from self.write(row, one)

    def write(self, row: MaybeRow, one: Pass) -> Iterator[PassMove]:
        read = None if row is None else _as_it_stood(row, one)
        written = write(read, self._transition(read, one))
        label = f"the reconciler, {one.task}, writes"
        if isinstance(written, Refused):
            yield self._stop(f"the reconciler, {one.task}, was overtaken", row, one)
            return
        if one.task in _POSTPONES and row is not None and written.row is not None:
            written = written._replace(row=written.row._replace(overdue=row.overdue, lease=row.lease))
        publishes = one.task in (Task.REPUBLISH, Task.RESCUE)
        then = Pass(Task.SEND) if publishes else Pass(Task.DROP) if one.has_message else IDLE
        yield self._written(label, written, then)

    def _transition(self, row: MaybeRow, one: Pass) -> Callable[[], Transition]:
        seen = _as_read(row, one.changed)
        failure = attempt.exhausted_failure(None, TIMINGS.attempt_cap)
        match one.task:
            case Task.POSTPONE_QUEUED | Task.POSTPONE_RUNNING:
                lease = None if one.task is Task.POSTPONE_QUEUED else NOW
                read = replace(seen, lease_expires_at=lease)
                return lambda: recovery.postpone_check(read, one.until, MOMENT)
            case Task.REPUBLISH:
                return lambda: recovery.republish(seen, MOMENT)
            case Task.RESCUE:
                return lambda: recovery.rescue(seen, MOMENT)
            case Task.HEAL_REQUEUE:
                return lambda: recovery.requeue(seen, MOMENT)
            case Task.RETIRE:
                return lambda: deletion.retire(seen, MOMENT)
            case Task.RENEW:
                owing = seen if owes_copy(seen) else replace(seen, status=Status.QUEUED)
                return lambda: recovery.owe_again(owing, MOMENT)
            case Task.EXHAUST | Task.HEAL_EXHAUST:
                return lambda: unleased.exhaust_abandoned(JOB_ID, failure, MOMENT)
        return lambda: unleased.expire(JOB_ID, MOMENT)

    def _purge(self, row: MaybeRow, one: Pass) -> PassMove:
        label = "the reconciler removes the row"
        if row is None:
            return Move("the reconciler finds the row gone", row, IDLE)
        due = _due(row, one)
        seen = _as_read(due, one.changed)
        if not purged(due, deletion.purge(seen, MOMENT)):
            return Move("the reconciler leaves the row, which has changed", row, IDLE)
        broken = None if row.deleted else "I2: the row of a job that nobody deleted was removed"
        everything = writing.WRITTEN | _SEEN | writing.GENERATION
        return Move(label, None, IDLE, Effect(row_gone(row.generation)), everything, violation=broken)

    def _stop(self, label: str, row: MaybeRow, one: Pass, *, fair: bool = True) -> PassMove:
        step = return_undelivered if one.has_message else nothing
        return Move(label, row, IDLE, Effect(step), fair=fair)

    def _written(self, label: str, written: Written, local: Pass) -> PassMove:
        return Move(
            label,
            written.row,
            local,
            Effect(nothing, written.owes, written.generation),
            written.changed,
            violation=written.violation,
        )


def _as_it_stood(row: AbstractRow, one: Pass) -> AbstractRow:
    """What a choice of the model's time must not change under a pass that has read a time off the row."""
    if one.task is Task.RETIRE:
        return _due(row, one)
    if one.task not in _POSTPONES or not row.is_open:
        return row
    return row._replace(overdue=False, lease=Lease.LIVE if row.status is Status.RUNNING else Lease.NONE)


def _due(row: AbstractRow, one: Pass) -> AbstractRow:
    """The row with its check due, as the pass has read it; a check that was set since is not due yet."""
    if row.check is Check.NEVER or one.changed & writing.CHECK:
        return row
    return row._replace(check=Check.SOON)


def _as_read(row: MaybeRow, changed: int) -> Job:
    """The row as the pass read it: like the present one, but for what has changed since."""
    job = described_job(row)
    return replace(
        job,
        fencing_token=job.fencing_token - bool(changed & writing.TOKEN),
        generation=job.generation - bool(changed & writing.GENERATION),
        outbox_seq=job.outbox_seq - bool(changed & writing.SEQUENCE),
        available_at=job.available_at - bool(changed & writing.AVAILABLE),
        republish_count=job.republish_count - bool(changed & writing.REPUBLISHED),
        next_check_at=None
        if job.next_check_at is None
        else job.next_check_at - bool(changed & writing.CHECK),
    )


@cache
def _both(first: Step, second: Step) -> Step:
    def step(broker: Broker) -> Broker | None:
        between = first(broker)
        return None if between is None else second(between)

    return step
