"""The search finds protocols that are wrong: each test drops a condition or a change, or
misplaces an effect, and expects a counterexample to the invariant that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pytest

from thumbline.domain import checkup, transition
from thumbline.domain.checkup import Delivery, Diagnosis, RefusedClaim, Treatment
from thumbline.domain.job import Job, Status
from thumbline.domain.row import AllOf, AnyOf, Condition, Remove, Row, changed, holds
from thumbline.domain.transition import Moment, Transition, TransitionRefusedError
from thumbline.domain.transitions import attempt, deletion, recovery, redrive, unleased
from thumbline.domain.transitions.recovery import postpone_check
from tools.modelcheck.broker import Effect, delete_copy, drop_given_up, nothing, receive_bad, take_undelivered
from tools.modelcheck.configuration import Configuration
from tools.modelcheck.moves import Move
from tools.modelcheck.people import OPERATOR_IDLE, Intent, Operator, OperatorMoves
from tools.modelcheck.protocol import Protocol
from tools.modelcheck.reconciler import IDLE, Pass, PassMoves, Task
from tools.modelcheck.rows import NOW, MaybeRow
from tools.modelcheck.search import explore
from tools.modelcheck.worker import IDLE as WORKER_IDLE
from tools.modelcheck.worker import Handle, Worker, WorkerMoves

PLAIN = Configuration(name="plain")
UNKNOWN = Configuration(name="unknown outcomes", unknown_outcomes=True)
DEADLINE = Configuration(name="deadline", deadline=True)
LOST = Configuration(name="lost", workers=1, undelivered=True, lost_records=True)
REDRIVE = Configuration(name="redrive", operator=True, max_visible=1)
LATE_REDRIVE = Configuration(name="late redrive", workers=1, operator=True, deadline=True, max_visible=1)
DELETE = Configuration(name="delete", client=True, max_visible=1)
BOTH = Configuration(name="both", workers=1, operator=True, client=True, max_visible=1)
STEPWISE = Configuration(name="stepwise", stepwise=True)
RETENTION = Configuration(
    name="retention", workers=1, stepwise=True, operator=True, client=True, retention=True, max_visible=1
)
BAD_MESSAGE = Configuration(name="bad message", bad_messages=True)
MISREAD = Configuration(name="misread message", misread_messages=True)

Build = Callable[..., Transition]


def violation_of(configuration: Configuration, protocol: Protocol | None = None) -> str:
    """The first violation, as its sentence; its trace must lead from acceptance to it."""
    found = explore(configuration, protocol or Protocol()).violation
    assert found is not None, "the search found nothing"
    assert found.trace[0].label == "the job is accepted"
    assert len(found.trace) > 1
    return found.sentence


def without_condition(build: Build, attribute: str) -> Build:
    def built(*arguments: Any, **named: Any) -> Transition:
        right = build(*arguments, **named)
        return replace(right, condition=_all_but(right.condition, attribute))

    return built


def without_change(build: Build, attribute: str) -> Build:
    def built(*arguments: Any, **named: Any) -> Transition:
        right = build(*arguments, **named)
        kept = tuple(change for change in right.changes if change.attribute != attribute)
        assert kept != right.changes, f"{right.name} does not change {attribute}"
        return replace(right, changes=kept)

    return built


def _all_but(condition: AllOf, attribute: str) -> AllOf:
    parts = tuple(part for part in condition.parts if getattr(part, "attribute", None) != attribute)
    return AllOf(tuple(_narrowed(part, attribute) for part in parts))


def _narrowed(part: Condition, attribute: str) -> Condition:
    if isinstance(part, AnyOf):
        return AnyOf(tuple(_narrowed(one, attribute) for one in part.parts))
    return _all_but(part, attribute) if isinstance(part, AllOf) else part


@dataclass(frozen=True)
class Dropped:
    """One condition that one transition does without, and what then breaks."""

    module: ModuleType
    name: str
    attribute: str
    configuration: Configuration
    breaks: str

    def __str__(self) -> str:
        return f"{self.name} without {self.attribute}"


CONDITIONS = [
    Dropped(attempt, "claim", "lease_expires_at", PLAIN, "I7: claim took a live attempt away"),
    Dropped(attempt, "claim", "attempts", PLAIN, "I5: attempt 3 of 2"),
    Dropped(attempt, "claim", "available_at", PLAIN, "I5: a claim before the job was available"),
    Dropped(attempt, "claim", "deadline_at", DEADLINE, "I1: a claim past the deadline"),
    Dropped(attempt, "extend_lease", "fencing_token", PLAIN, "I4: extend_lease by a worker whose token"),
    Dropped(attempt, "complete", "fencing_token", PLAIN, "I4: complete by a worker whose token"),
    Dropped(attempt, "complete", "status", PLAIN, "I4: complete of a job that is"),
    Dropped(attempt, "fail", "fencing_token", PLAIN, "I4: fail by a worker whose token"),
    Dropped(attempt, "release", "fencing_token", PLAIN, "I4: release by a worker whose token"),
    Dropped(unleased, "exhaust_abandoned", "lease_expires_at", PLAIN, "I7: exhaust_abandoned took a live"),
    Dropped(
        unleased, "exhaust_abandoned", "attempts", REDRIVE, "I9: a job failed as exhausted with attempts"
    ),
    Dropped(unleased, "expire", "lease_expires_at", DEADLINE, "I7: expire took a live attempt away"),
    Dropped(unleased, "expire", "deadline_at", LATE_REDRIVE, "I9: a job expired before its deadline"),
    Dropped(unleased, "reject_message", "lease_expires_at", BAD_MESSAGE, "I7: reject_message took a live"),
    Dropped(recovery, "rescue", "lease_expires_at", STEPWISE, "I7: rescue took a live attempt away"),
    Dropped(deletion, "delete_terminal", "deleted_at", DELETE, "I2: delete_terminal deleted a job again"),
    Dropped(deletion, "retire", "next_check_at", RETENTION, "I12: a job was retired before the end"),
    Dropped(redrive, "redrive", "generation", REDRIVE, "I9: a redrive of generation 1 reopened generation 2"),
    Dropped(redrive, "redrive", "deleted_at", BOTH, "I2: a deleted row reopened"),
]


@pytest.mark.parametrize("dropped", CONDITIONS, ids=str)
def test_a_dropped_condition_is_found(dropped: Dropped, monkeypatch: pytest.MonkeyPatch) -> None:
    right = getattr(dropped.module, dropped.name)
    monkeypatch.setattr(dropped.module, dropped.name, without_condition(right, dropped.attribute))

    assert violation_of(dropped.configuration).startswith(dropped.breaks)


CHANGES = [
    Dropped(attempt, "claim", "fencing_token", PLAIN, "I5: a claim did not get a token of its own"),
    Dropped(attempt, "claim", "attempts", PLAIN, "I5: a claim did not count as an attempt"),
    Dropped(attempt, "claim", "check_shard", PLAIN, "I1: claim left a row's due check among"),
    Dropped(attempt, "complete", "check_shard", PLAIN, "I1: complete left a row's due check among"),
    Dropped(attempt, "complete", "next_check_at", PLAIN, "I12: complete left a terminal row that is not"),
    Dropped(attempt, "complete", "expires_at", PLAIN, "I12: complete left a terminal row that the"),
    Dropped(attempt, "complete", "lease_expires_at", PLAIN, "I5: complete left a row that is SUCCEEDED"),
    Dropped(attempt, "release", "lease_expires_at", PLAIN, "I5: release left a row that is QUEUED with a"),
    Dropped(attempt, "release", "available_at", PLAIN, "I5: release queued a job that was available"),
    Dropped(recovery, "rescue", "available_at", PLAIN, "I5: rescue queued a job that was available"),
    Dropped(redrive, "redrive", "available_at", REDRIVE, "I5: redrive queued a job that was available"),
    Dropped(attempt, "complete", "results", PLAIN, "I3: a job succeeded without results"),
    Dropped(attempt, "exhaust", "outbox_seq", PLAIN, "I9: an exhausted job has no annotated copy"),
    Dropped(unleased, "exhaust_abandoned", "outbox_seq", PLAIN, "I9: an exhausted job has no annotated copy"),
    Dropped(recovery, "requeue", "outbox_seq", LOST, "I10: an open job has no message"),
    Dropped(redrive, "redrive", "outbox_seq", REDRIVE, "I10: an open job has no message"),
    Dropped(redrive, "redrive", "attempts", REDRIVE, "I9: a redrive without fresh attempts"),
    Dropped(redrive, "redrive", "deadline_at", REDRIVE, "I9: a redrive without a fresh deadline"),
    Dropped(redrive, "redrive", "next_check_at", REDRIVE, "I1: an open row is not checked by its deadline"),
    Dropped(redrive, "redrive", "expires_at", REDRIVE, "an open row has an expiry"),
    Dropped(redrive, "redrive", "trace", REDRIVE, "I2: a redrive without an audit entry"),
    Dropped(
        deletion, "delete_open", "next_check_at", DELETE, "I12: the row is gone and its thumbnail remained"
    ),
    Dropped(deletion, "delete_terminal", "deleted_at", DELETE, "I12: the original of a job"),
]


@pytest.mark.parametrize("dropped", CHANGES, ids=str)
def test_a_dropped_change_is_found(dropped: Dropped, monkeypatch: pytest.MonkeyPatch) -> None:
    right = getattr(dropped.module, dropped.name)
    monkeypatch.setattr(dropped.module, dropped.name, without_change(right, dropped.attribute))

    assert violation_of(dropped.configuration).startswith(dropped.breaks)


def test_a_writer_that_does_not_know_its_own_write_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """DESIGN section 8, 13: a retry that loses against its own first write."""

    def forgetful(tried: Transition, row: Row | None) -> dict[str, Any]:
        if row is None or not holds(tried.condition, row):
            raise TransitionRefusedError(tried, None if row is None else Job.from_row(row))
        return changed(row, tried.changes)

    monkeypatch.setattr(transition, "apply", forgetful)

    assert violation_of(UNKNOWN) == "I4: a live worker abandoned the attempt that it owns"


def test_an_eager_second_clean_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was claimed before the delete puts its thumbnail after the row is gone."""
    monkeypatch.setattr(
        deletion, "check_at", lambda job_id, phase, _when: transition.check_at(job_id, phase, NOW)
    )

    assert violation_of(DELETE) == "I12: the row is gone and its thumbnail remained"


def test_a_terminal_row_without_a_check_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would ever remove its objects."""
    nothing_kept = (Remove("next_check_at"), Remove("check_shard"), Remove("expires_at"))
    monkeypatch.setattr(transition, "_retained", lambda *_: nothing_kept)

    assert violation_of(PLAIN).startswith("I1: a terminal row has no due check")


def test_a_backoff_that_a_requeue_shortens_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "max", lambda _available_at, now: now, raising=False)

    assert violation_of(LOST) == "I5: requeue shortened a backoff"


def test_a_check_that_is_postponed_for_ever_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(seen: Job, until: int, moment: Moment) -> Transition:
        right = postpone_check(seen, until, moment)
        return replace(right, changes=(*right.changes, Remove("next_check_at"), Remove("check_shard")))

    monkeypatch.setattr(recovery, "postpone_check", never)

    assert violation_of(PLAIN).startswith("I1: an open row has no due check")


def test_a_check_that_is_postponed_beyond_the_deadline_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "by_deadline", lambda _when, deadline_at: deadline_at + 2)

    assert violation_of(PLAIN).startswith("I1: an open row is not checked by its deadline")


def test_a_check_that_is_postponed_by_an_outdated_reading_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The job has ended since; without "still so", its retention would end with its lease."""
    careless = without_condition(without_condition(postpone_check, "status"), "next_check_at")
    monkeypatch.setattr(recovery, "postpone_check", careless)

    assert violation_of(STEPWISE) == "I12: postpone_check moved the end of a terminal row's retention"


def test_a_missing_second_clean_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "diagnose", lambda *_: Diagnosis(Treatment.NONE))

    assert violation_of(DELETE) == "I8: no drained terminal state is reachable"


def test_an_ack_on_a_live_lease_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "explain_refused_claim", instead_of(Delivery.BOUNCE, Delivery.SKIP))

    assert violation_of(PLAIN) == "I10: an open job has no message, and none is owed"


def test_a_terminal_row_that_is_never_acknowledged_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "explain_refused_claim", instead_of(Delivery.SKIP, Delivery.BOUNCE))

    assert violation_of(PLAIN) == "I8: no drained terminal state is reachable"


def instead_of(right: Delivery, wrong: Delivery) -> Callable[..., RefusedClaim]:
    explain = checkup.explain_refused_claim

    def explained(*arguments: Any) -> RefusedClaim:
        answer = explain(*arguments)
        return replace(answer, delivery=wrong) if answer.delivery is right else answer

    return explained


class AckFirst(WorkerMoves):
    """Deletes the message as soon as the job is claimed."""

    def claim(self, row: MaybeRow, worker: Worker) -> Iterator[Move[Worker]]:
        for move in super().claim(row, worker):
            yield move._replace(local=move.local._replace(handle=Handle.NONE))


class BouncedMessageAcknowledged(WorkerMoves):
    """Acknowledges a message that it does not understand although another worker holds the job."""

    def misread(self, row: MaybeRow) -> Iterator[Move[Worker]]:
        for move in super().misread(row):
            bounced = move.local == WORKER_IDLE
            yield move._replace(effect=Effect(nothing)) if bounced else move


class OvertakenMessageAcknowledged(WorkerMoves):
    """The same where the claim came between the look at the row and the write."""

    def reject(self, row: MaybeRow, worker: Worker) -> Iterator[Move[Worker]]:
        for move in super().reject(row, worker):
            yield move._replace(effect=move.effect._replace(step=nothing))


class BadMessageNotCopied(WorkerMoves):
    """Fails the job before a person has the message, or without."""

    def receive_bad(self, row: MaybeRow) -> Iterator[Move[Worker]]:
        for move in super().receive_bad(row):
            yield move._replace(effect=Effect(receive_bad))


class UndeliveredDropped(PassMoves):
    """Takes every undelivered message for a failed job's."""

    def look_at_undelivered(self, row: MaybeRow) -> Iterator[Move[Pass]]:
        yield Move("drops", row, Pass(Task.DROP), Effect(take_undelivered))


class UndeliveredDeletedFirst(PassMoves):
    """Deletes the message, then dies before its write."""

    def look_at_undelivered(self, row: MaybeRow) -> Iterator[Move[Pass]]:
        yield from super().look_at_undelivered(row)
        yield Move("deletes first and dies", row, IDLE, Effect(take_undelivered), fair=False)


class RelayFailuresForgotten(PassMoves):
    """Empties the relay's failure queue without owing anything again."""

    def look_at_given_up(self, row: MaybeRow) -> Iterator[Move[Pass]]:
        yield Move("forgets", row, IDLE, Effect(drop_given_up))


class RelayFailuresOfRunningJobsDropped(PassMoves):
    """Trusts that a job which is being worked on has its message."""

    def look_at_given_up(self, row: MaybeRow) -> Iterator[Move[Pass]]:
        if row is not None and row.status is Status.RUNNING:
            yield Move("drops it", row, IDLE, Effect(drop_given_up))
        else:
            yield from super().look_at_given_up(row)


class CopyDeletedFirst(OperatorMoves):
    """Deletes the copy, then redrives."""

    def redrive(self, row: MaybeRow, operator: Operator) -> Iterator[Move[Operator]]:
        if operator.intent is Intent.FROM_COPY:
            effect = Effect(delete_copy(operator.generation))
            yield Move("deletes the copy", row, OPERATOR_IDLE, effect, fair=False)


ORDERS = {
    "ack first": (Protocol(worker=AckFirst), PLAIN, "I10: an open job has no message"),
    "bounced message acknowledged": (
        Protocol(worker=BouncedMessageAcknowledged), MISREAD, "I10: an open job has no message"
    ),
    "overtaken message acknowledged": (
        Protocol(worker=OvertakenMessageAcknowledged), MISREAD, "I10: an open job has no message"
    ),
    "bad message not copied": (
        Protocol(worker=BadMessageNotCopied), BAD_MESSAGE, "I9: a job failed for a bad message of which no"
    ),
    "undelivered dropped": (Protocol(reconciler=UndeliveredDropped), LOST, "I10: an open job has no message"),
    "undelivered deleted first": (
        Protocol(reconciler=UndeliveredDeletedFirst), LOST, "I10: an open job has no message"
    ),
    "relay failures forgotten": (
        Protocol(reconciler=RelayFailuresForgotten), LOST, "I10: an open job has no message"
    ),
    "relay failures of running jobs dropped": (
        Protocol(reconciler=RelayFailuresOfRunningJobsDropped), LOST, "I10: an open job has no message"
    ),
    "copy deleted first": (
        Protocol(operator=CopyDeletedFirst), REDRIVE, "I9: an exhausted job has no annotated copy"
    ),
}  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_effects_in_the_wrong_order_are_found(order: str) -> None:
    protocol, configuration, breaks = ORDERS[order]

    assert violation_of(configuration, protocol).startswith(breaks)
