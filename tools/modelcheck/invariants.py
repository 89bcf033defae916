"""What must hold: of each write of a row, and of each state. The numbers are the invariants' of the design.

A write is judged against the row before it by the meaning of an attempt, a lease and a copy, not by the
conditions of the transitions: those are what is being checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Status, phase_of
from thumbline.domain.keys import shard_of
from thumbline.domain.row import Row
from tools.modelcheck.broker import Broker
from tools.modelcheck.configuration import Configuration
from tools.modelcheck.rows import CLOCK, JOB_ID, NOW, TIMINGS, Lease, MaybeRow, lease_of

_OPEN = ("QUEUED", "RUNNING")
_OWNERS = frozenset({"extend_lease", "complete", "fail", "exhaust", "release"})
_ENDS_OF_LIFE = frozenset({"delete_open", "delete_terminal", "retire"})
_DELETES_BY_CLIENT = frozenset({"delete_open", "delete_terminal"})
_RETENTION_MS = TIMINGS.retention_days * 24 * 3600 * 1000
_BOOKKEEPING = frozenset(
    {
        "write_id", "outbox_seq", "next_check_at", "check_shard", "expires_at", "fencing_token",
        "deleted_at", "lease_expires_at",
    }
)  # fmt: skip


def judge_write(
    name: str, before: Row, after: Row, *, owns: bool, names_generation: int | None
) -> str | None:
    """The first invariant that this write breaks, as one sentence."""
    if before == after:
        return None
    return next(_broken_by(name, before, after, owns, names_generation), None)


def _broken_by(name: str, before: Row, after: Row, owns: bool, asked: int | None) -> Iterator[str]:
    yield from _finality(name, before, after)
    yield from _tokens_and_attempts(name, before, after)
    yield from _ownership(name, before, after, owns)
    yield from _failure(before, after)
    if name == "redrive":
        yield from _redrive(before, after, asked)
    if after["status"] in _OPEN and "expires_at" in after:
        yield "an open row has an expiry: the table would drop it"
    yield from _due_check(name, before, after)
    yield from _availability(name, before, after)
    if (after["status"] == "RUNNING") != ("lease_expires_at" in after):
        yield f"I5: {name} left a row that is {after['status']} with a lease, or without"
    if after["status"] == "SUCCEEDED" and "results" not in after:
        yield "I3: a job succeeded without results"


def _due_check(name: str, before: Row, after: Row) -> Iterator[str]:
    """Every row has one, until it is gone: the reconciler finds nothing by any other way."""
    is_open = after["status"] in _OPEN
    if "next_check_at" not in after or "check_shard" not in after:
        yield f"I1: {'an open' if is_open else 'a terminal'} row has no due check: nobody would see it again"
        return
    if after["check_shard"] != shard_of(JOB_ID, phase_of(Status(after["status"]))):
        yield f"I1: {name} left a row's due check among those of another phase"
    if is_open:
        if after["next_check_at"] > _latest_check(after):
            yield "I1: an open row is not checked by its deadline, or its lease's end"
    elif "deleted_at" in after:
        return
    elif before["status"] not in _OPEN:
        if after["next_check_at"] != before["next_check_at"] and name not in _ENDS_OF_LIFE:
            yield f"I12: {name} moved the end of a terminal row's retention"
    elif after["next_check_at"] != CLOCK + _RETENTION_MS:
        yield f"I12: {name} left a terminal row that is not kept for its retention"
    elif after.get("expires_at", 0) * 1000 <= after["next_check_at"]:
        yield f"I12: {name} left a terminal row that the table may drop before its objects are removed"


def _latest_check(row: Row) -> int:
    lease_over = row.get("lease_expires_at", 0) + TIMINGS.skew_seconds * 1000
    return int(max(row["deadline_at"], lease_over)) + 1


def _availability(name: str, before: Row, after: Row) -> Iterator[str]:
    """`available_at` is set on every entry to QUEUED, and holds for whoever claims."""
    if name == "claim" and before["available_at"] > NOW + 2 * TIMINGS.skew_seconds * 1000:
        yield "I5: a claim before the job was available"
    if name == "claim" and before["deadline_at"] < NOW:
        yield "I1: a claim past the deadline"
    if after["status"] != "QUEUED":
        return
    if before["status"] == "QUEUED":
        if after["available_at"] < before["available_at"]:
            yield f"I5: {name} shortened a backoff"
    elif after["available_at"] < NOW:
        yield f"I5: {name} queued a job that was available before: its wait would be counted from there"


def _finality(name: str, before: Row, after: Row) -> Iterator[str]:
    if before["status"] in _OPEN:
        return
    if "deleted_at" in before and after["status"] in _OPEN:
        yield "I2: a deleted row reopened"
    if name == "redrive":
        if before["status"] != "FAILED":
            yield f"I2: a redrive reopened a row that was {before['status']}"
        return
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    if changed - _BOOKKEEPING:
        yield f"I2: {name} changed {', '.join(sorted(changed - _BOOKKEEPING))} of a terminal row"
    if "deleted_at" in changed and name not in _ENDS_OF_LIFE:
        yield f"I2: {name} deleted a job"
    if "deleted_at" in changed and "deleted_at" in before:
        yield f"I2: {name} deleted a job again: its last clean-up would come later"
    if name == "retire" and before["next_check_at"] > CLOCK:
        yield "I12: a job was retired before the end of its retention"


def _tokens_and_attempts(name: str, before: Row, after: Row) -> Iterator[str]:
    if after["fencing_token"] < before["fencing_token"]:
        yield f"I5: {name} lowered the fencing token"
    if after["attempts"] > TIMINGS.attempt_cap:
        yield f"I5: attempt {after['attempts']} of {TIMINGS.attempt_cap}"
    if after["attempts"] < before["attempts"] and name not in {"release", "redrive"}:
        yield f"I5: {name} gave an attempt back"
    if after["generation"] != before["generation"] and name != "redrive":
        yield f"I5: {name} changed the generation"
    if name == "claim":
        if after["fencing_token"] <= before["fencing_token"]:
            yield "I5: a claim did not get a token of its own"
        if after["attempts"] != before["attempts"] + 1:
            yield "I5: a claim did not count as an attempt"


def _ownership(name: str, before: Row, after: Row, owns: bool) -> Iterator[str]:
    if name in _OWNERS and not owns:
        yield f"I4: {name} by a worker whose token is not the row's"
    if name in _OWNERS and before["status"] != "RUNNING":
        yield f"I4: {name} of a job that is {before['status']}"
    was_live = before["status"] == "RUNNING" and lease_of(before) is Lease.LIVE
    taken = after["fencing_token"] != before["fencing_token"] or after["status"] != "RUNNING"
    if was_live and taken and name not in _OWNERS | _DELETES_BY_CLIENT:
        yield f"I7: {name} took a live attempt away"


def _failure(before: Row, after: Row) -> Iterator[str]:
    if before["status"] not in _OPEN or after["status"] != "FAILED" or "deleted_at" in after:
        return
    code = after["failure"]["code"]
    if code == FailureCode.ATTEMPTS_EXHAUSTED and before["attempts"] < TIMINGS.attempt_cap:
        yield "I9: a job failed as exhausted with attempts left"
    if code == FailureCode.EXPIRED and before["deadline_at"] >= CLOCK:
        yield "I9: a job expired before its deadline"


def _redrive(before: Row, after: Row, asked: int | None) -> Iterator[str]:
    if asked != before["generation"]:
        yield f"I9: a redrive of generation {asked} reopened generation {before['generation']}"
    if after["generation"] != before["generation"] + 1:
        yield "I2: a redrive without a generation of its own"
    if after["attempts"] != 0:
        yield "I9: a redrive without fresh attempts"
    if after["deadline_at"] <= CLOCK:
        yield "I9: a redrive without a fresh deadline"
    if len(_trace(after)) != len(_trace(before)) + 1:
        yield "I2: a redrive without an audit entry"


def _trace(row: Row) -> list[Any]:
    return list(row.get("trace", []))


MESSAGE_HELD = ""
"""The verdict of a state that is well only if an actor holds a message."""


def judge_state(row: MaybeRow, broker: Broker, configuration: Configuration) -> str | None:
    """The invariant that this state breaks, if any; MESSAGE_HELD where that depends on the actors."""
    objects = configuration.client
    if row is None:
        remains = [name for name in ("original", "thumbnail") if getattr(broker, name)]
        return f"I12: the row is gone and its {' and '.join(remains)} remained" if remains else None
    if not row.deleted and not broker.original:
        return "I12: the original of a job that is live or redrivable was deleted"
    if objects and row.status.value == "SUCCEEDED" and not row.deleted and not broker.thumbnail:
        return "I3: a job succeeded and its thumbnail does not exist"
    if row.exhausted and not broker.has_copy(row.generation):
        return "I9: an exhausted job has no annotated copy, and none is owed"
    if not row.exhausted and not row.deleted and row.generation in broker.copies:
        return "I9: an annotated copy exists of a job that is not exhausted"
    if row.rejected and not broker.bad_copied:
        return "I9: a job failed for a bad message of which no copy exists"
    if row.is_open and not broker.has_message:
        return MESSAGE_HELD
    return None
