"""What one write may do to a job's row: rules over the old and the new image.

Each rule yields the invariant that the write breaks, as docs/chaos.md numbers it, and a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator

from thumbline.domain.errors import FailureCode
from thumbline.domain.row import Row
from thumbline.domain.timings import Timings
from tools.chaos.pictures import RENDERABLE, Kind

Finding = tuple[str, str]
OPEN = ("QUEUED", "RUNNING")
_CHANGED_BY_OWING = {"outbox_seq", "write_id"}


def is_claim(old: Row, new: Row) -> bool:
    return bool(
        new["status"] == "RUNNING"
        and (
            old["status"] != "RUNNING" or any(new[name] > old[name] for name in ("fencing_token", "attempts"))
        )
    )


def of_change(old: Row, new: Row, read_at: int, now: int, timings: Timings) -> Iterator[Finding]:
    """Of every write to a row that exists. `read_at` is when the writer read its clock, at the earliest.

    Times are virtual epoch milliseconds.
    """
    if new["fencing_token"] < old["fencing_token"]:
        yield "I5", "its token fell"
    if new["attempts"] > timings.attempt_cap:
        yield "I5", f"it has {new['attempts']} attempts"
    if "deleted_at" in old:
        yield "I2", "it was deleted and changed"
    elif old["status"] not in OPEN:
        yield from _of_terminal(old, new, read_at, timings)
    if "next_check_at" not in new or "check_shard" not in new:
        yield "I8", "no check of it is due any more"
    if new["status"] == "QUEUED" and new["next_check_at"] > new["deadline_at"] + 1:
        yield "I1", "its next check waits past its deadline"
    if new["status"] == "RUNNING" and new["next_check_at"] > _latest_of_running(new, timings):
        yield "I1", "its next check waits past its deadline and its lease"
    if is_claim(old, new):
        yield from _of_claim(old, new, read_at, now, timings)
    elif new["attempts"] > old["attempts"]:
        yield "I5", "an attempt was counted that nobody claimed"


def _latest_of_running(new: Row, timings: Timings) -> int:
    over_at: int = new["lease_expires_at"] + timings.skew_seconds * 1000
    deadline_at: int = new["deadline_at"]
    return max(deadline_at, over_at) + 1


def of_failure(
    new: Row, kind: Kind, now: int, timings: Timings, *, bad_message_sent: bool
) -> Iterator[Finding]:
    """Of the write that made an open job FAILED, other than by a delete. What may end how: docs/chaos.md."""
    code = new["failure"]["code"]
    match code:
        case FailureCode.ATTEMPTS_EXHAUSTED:
            if new["attempts"] < timings.attempt_cap:
                yield "I9", f"it is exhausted after {new['attempts']} attempts"
        case FailureCode.EXPIRED:
            if new["deadline_at"] >= now + _skew_ms(timings):
                yield "I8", "it expired before its deadline"
        case FailureCode.BAD_MESSAGE:
            if not bad_message_sent:
                yield "I8", "it failed for a bad message that nobody sent"
        case FailureCode.NOT_AN_IMAGE if kind is Kind.BROKEN:
            pass
        case _:
            yield "I8", f"a {kind} picture failed as {code}"


def of_success(new: Row, kind: Kind) -> Iterator[Finding]:
    if kind not in RENDERABLE:
        yield "I3", f"a {kind} picture succeeded"
    owed = {preset["name"] for preset in new["presets"]}
    if set(new.get("results", {})) != owed:
        yield "I3", f"it succeeded without all of {sorted(owed)}"


def of_ending(new: Row, read_at: int, now: int, timings: Timings) -> Iterator[Finding]:
    """Of every write that made an open job terminal."""
    if not read_at - _skew_ms(timings) <= new["finished_at"] <= now + _skew_ms(timings):
        yield "I2", "its finish is dated otherwise than it was written"


def of_release(old: Row, new: Row) -> Iterator[Finding]:
    """Of an owner that gave its attempt up: only what a dependency cost is given back."""
    unavailable = new["failure"]["code"] == FailureCode.DEPENDENCY_UNAVAILABLE
    if new["attempts"] != old["attempts"] - unavailable:
        given = "kept" if unavailable else "given back"
        yield "I5", f"an attempt that ended as {new['failure']['code']} was {given}"


def of_purge(old: Row, now: int, timings: Timings) -> Iterator[Finding]:
    if "deleted_at" not in old:
        yield "I2", "its row went without a tombstone"
    elif now < old["deleted_at"] + timings.function_timeout_seconds * 1000:
        yield "I12", "its row went while a late worker may still put an object"


def is_retired(new: Row, now: int, timings: Timings) -> bool:
    """A tombstone that nobody asked for is lawful at the end of retention only."""
    kept_until: int = new["finished_at"] + timings.retention_days * 86_400_000
    return kept_until <= now + _skew_ms(timings)


def _of_terminal(old: Row, new: Row, read_at: int, timings: Timings) -> Iterator[Finding]:
    if "deleted_at" in new:
        if new["status"] != old["status"] or new.get("failure") != old.get("failure"):
            yield "I2", "a delete changed its outcome"
    elif new["status"] in OPEN:
        yield from _of_redrive(old, new, read_at, timings)
    elif _but(old, _CHANGED_BY_OWING) != _but(new, _CHANGED_BY_OWING):
        yield "I2", "it was terminal and changed"


def _of_redrive(old: Row, new: Row, read_at: int, timings: Timings) -> Iterator[Finding]:
    next_life = new["generation"] == old["generation"] + 1 and old["status"] == "FAILED"
    audited = len(new.get("trace", [])) == len(old.get("trace", [])) + 1
    if not next_life or not audited:
        yield "I2", "it was terminal and reopened"
    if new["attempts"] != 0:
        yield "I9", f"a redrive left it {new['attempts']} attempts"
    if new["deadline_at"] < read_at + timings.deadline_seconds * 1000 - _skew_ms(timings):
        yield "I9", "a redrive left it its old deadline"


def _of_claim(old: Row, new: Row, read_at: int, now: int, timings: Timings) -> Iterator[Finding]:
    if new["fencing_token"] != old["fencing_token"] + 1:
        yield "I5", "it was claimed without the next token"
    if new["attempts"] != old["attempts"] + 1:
        yield "I5", "it was claimed and the attempt was not counted"
    if old["available_at"] > now + 2 * _skew_ms(timings):
        yield "I5", "it was claimed before it was available"
    if old["deadline_at"] < read_at - _skew_ms(timings):
        yield "I1", "it was claimed after its deadline"


def _but(row: Row, names: set[str]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in names}


def _skew_ms(timings: Timings) -> int:
    return timings.skew_seconds * 1000
