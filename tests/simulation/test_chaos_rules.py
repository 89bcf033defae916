"""Each rule of the chaos checker on one write: what is allowed passes, and what breaks it is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tools.chaos import row_rules
from tools.chaos.ownership import Ownership
from tools.chaos.pictures import Kind
from tools.chaos.scheduler import Process, Scheduler
from tools.chaos.universe import TIMINGS

NOW = 1_000_000_000_000
CAP = TIMINGS.attempt_cap
SKEW_MS = TIMINGS.skew_seconds * 1000
DEADLINE_MS = TIMINGS.deadline_seconds * 1000
Row = dict[str, Any]

QUEUED: Row = {
    "status": "QUEUED",
    "fencing_token": 1,
    "attempts": 1,
    "generation": 1,
    "outbox_seq": 1,
    "available_at": NOW,
    "deadline_at": NOW + DEADLINE_MS,
    "next_check_at": NOW + 1,
    "check_shard": "queued-0",
}
RUNNING: Row = QUEUED | {
    "status": "RUNNING",
    "fencing_token": 2,
    "attempts": 2,
    "lease_expires_at": NOW + 30_000,
}
DYING: Row = RUNNING | {"deadline_at": NOW + 1_000}
"""Its deadline comes before its lease's end."""
FAILED: Row = QUEUED | {
    "status": "FAILED",
    "finished_at": NOW,
    "failure": {"code": "attempts_exhausted"},
}
REDRIVEN: Row = QUEUED | {"generation": 2, "attempts": 0, "outbox_seq": 2, "trace": [{}]}
DELETED: Row = FAILED | {"deleted_at": NOW}


def invariants(findings: Iterable[row_rules.Finding]) -> list[str]:
    return [invariant for invariant, _ in findings]


@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        (QUEUED, RUNNING, []),
        (RUNNING, RUNNING | {"fencing_token": 3, "attempts": 3}, []),
        (RUNNING, QUEUED | {"fencing_token": 2, "attempts": 2}, []),
        (FAILED, REDRIVEN, []),
        (FAILED, DELETED, []),
        (FAILED, FAILED | {"outbox_seq": 2, "write_id": "new"}, []),
        (RUNNING, QUEUED, ["I5"]),
        (QUEUED | {"attempts": CAP}, RUNNING | {"attempts": CAP + 1}, ["I5"]),
        (QUEUED, QUEUED | {"attempts": 2}, ["I5"]),
        (QUEUED, RUNNING | {"fencing_token": 1}, ["I5"]),
        (QUEUED, RUNNING | {"fencing_token": 3}, ["I5"]),
        (QUEUED, RUNNING | {"attempts": 1}, ["I5"]),
        (QUEUED | {"available_at": NOW + 2 * SKEW_MS + 1}, RUNNING, ["I5"]),
        (QUEUED | {"deadline_at": NOW - SKEW_MS - 1}, RUNNING, ["I1"]),
        (DELETED, DELETED | {"failure": {}}, ["I2"]),
        (FAILED, DELETED | {"failure": {"code": "deleted"}}, ["I2"]),
        (FAILED, DELETED | {"status": "SUCCEEDED"}, ["I2"]),
        (FAILED, FAILED | {"failure": {"code": "expired"}}, ["I2"]),
        (FAILED, REDRIVEN | {"trace": []}, ["I2"]),
        (FAILED, REDRIVEN | {"generation": 1}, ["I2"]),
        (FAILED, REDRIVEN | {"generation": 3}, ["I2"]),
        (FAILED | {"status": "SUCCEEDED"}, REDRIVEN, ["I2"]),
        (FAILED, REDRIVEN | {"attempts": 1}, ["I9"]),
        (FAILED, REDRIVEN | {"deadline_at": NOW + DEADLINE_MS - SKEW_MS - 1}, ["I9"]),
        (QUEUED, {name: RUNNING[name] for name in RUNNING if name != "check_shard"}, ["I8"]),
        (QUEUED, QUEUED | {"next_check_at": QUEUED["deadline_at"] + 2}, ["I1"]),
        (RUNNING, RUNNING | {"next_check_at": RUNNING["deadline_at"] + 1}, []),
        (RUNNING, RUNNING | {"next_check_at": RUNNING["deadline_at"] + 2}, ["I1"]),
        (DYING, DYING | {"next_check_at": DYING["lease_expires_at"] + SKEW_MS + 1}, []),
        (DYING, DYING | {"next_check_at": DYING["lease_expires_at"] + SKEW_MS + 2}, ["I1"]),
    ],
)
def test_a_write_to_a_row(old: Row, new: Row, broken: list[str]) -> None:
    assert invariants(row_rules.of_change(old, new, NOW, NOW, TIMINGS)) == broken


def test_a_writer_that_froze_may_have_read_its_clock_long_before() -> None:
    late = QUEUED | {"deadline_at": NOW - 60_000}
    assert (
        invariants(row_rules.of_change(late, RUNNING | {"deadline_at": 0}, NOW - 60_000, NOW, TIMINGS)) == []
    )
    ended = FAILED | {"finished_at": NOW - 60_000}
    assert invariants(row_rules.of_ending(ended, NOW - 60_000, NOW, TIMINGS)) == []
    assert invariants(row_rules.of_ending(ended, NOW, NOW, TIMINGS)) == ["I2"]
    assert invariants(row_rules.of_ending(FAILED | {"finished_at": NOW + 6_000}, NOW, NOW, TIMINGS)) == ["I2"]


@pytest.mark.parametrize(
    ("code", "kind", "changed", "broken"),
    [
        ("attempts_exhausted", Kind.GOOD, {"attempts": CAP}, []),
        ("attempts_exhausted", Kind.GOOD, {"attempts": CAP - 1}, ["I9"]),
        ("expired", Kind.GOOD, {"deadline_at": NOW - 1}, []),
        ("expired", Kind.GOOD, {"deadline_at": NOW + SKEW_MS}, ["I8"]),
        ("not_an_image", Kind.BROKEN, {}, []),
        ("not_an_image", Kind.GOOD, {}, ["I8"]),
        ("corrupt", Kind.BROKEN, {}, ["I8"]),
        ("render_crashed", Kind.FLAKY, {}, ["I8"]),
        ("dependency_unavailable", Kind.SLOW, {}, ["I8"]),
        ("original_missing", Kind.GOOD, {}, ["I8"]),
        ("deleted", Kind.GOOD, {}, ["I8"]),
        ("bad_message", Kind.GOOD, {}, ["I8"]),
    ],
)
def test_a_failure(code: str, kind: Kind, changed: Row, broken: list[str]) -> None:
    row = FAILED | {"failure": {"code": code}} | changed
    assert invariants(row_rules.of_failure(row, kind, NOW, TIMINGS, bad_message_sent=False)) == broken


def test_a_bad_message_that_was_sent_may_fail_its_job() -> None:
    row = FAILED | {"failure": {"code": "bad_message"}}
    assert invariants(row_rules.of_failure(row, Kind.GOOD, NOW, TIMINGS, bad_message_sent=True)) == []


@pytest.mark.parametrize("kind", Kind)
def test_a_success(kind: Kind) -> None:
    row = QUEUED | {"status": "SUCCEEDED", "presets": [{"name": "thumbnail"}], "results": {"thumbnail": {}}}
    may_succeed = kind in (Kind.GOOD, Kind.SLOW, Kind.FLAKY)
    assert invariants(row_rules.of_success(row, kind)) == ([] if may_succeed else ["I3"])
    wrong: tuple[Row, ...] = ({}, {"small": {}}, {"thumbnail": {}, "small": {}})
    for results in wrong:
        assert "I3" in invariants(row_rules.of_success(row | {"results": results}, Kind.GOOD))


@pytest.mark.parametrize(
    ("code", "attempts", "broken"),
    [
        ("dependency_unavailable", 1, []),
        ("dependency_unavailable", 2, ["I5"]),
        ("render_crashed", 2, []),
        ("render_crashed", 1, ["I5"]),
        ("render_crashed", 0, ["I5"]),
    ],
)
def test_a_release(code: str, attempts: int, broken: list[str]) -> None:
    new = QUEUED | {"attempts": attempts, "failure": {"code": code}}
    assert invariants(row_rules.of_release(RUNNING, new)) == broken


def test_a_row_goes_after_its_tombstone_and_after_every_late_worker() -> None:
    safe_at = NOW + TIMINGS.function_timeout_seconds * 1000
    assert invariants(row_rules.of_purge(DELETED, safe_at, TIMINGS)) == []
    assert invariants(row_rules.of_purge(DELETED, safe_at - 1, TIMINGS)) == ["I12"]
    assert invariants(row_rules.of_purge(FAILED, safe_at, TIMINGS)) == ["I2"]


def test_retention_ends_when_it_ends() -> None:
    ends_at = NOW + TIMINGS.retention_days * 86_400_000
    assert row_rules.is_retired(FAILED, ends_at, TIMINGS)
    assert not row_rules.is_retired(FAILED, ends_at - SKEW_MS - 1, TIMINGS)


OWNER = Process("worker", ends_at=NOW + 120_000)
AFTER_LEASE = NOW + 30_001


def change_by(process: Process, at: int, new: Row, owner: Process = OWNER) -> list[str]:
    """What is said when the process writes at that time to the row that the owner claimed."""
    scheduler = Scheduler(NOW)
    ownership = Ownership(scheduler)
    found: list[str] = []

    def claim() -> None:
        assert invariants(ownership.on_change("job", QUEUED, RUNNING)) == []

    def write() -> None:
        scheduler.now = at
        found.extend(invariants(ownership.on_change("job", RUNNING, new)))

    scheduler.spawn(claim, process=owner)
    scheduler.spawn(write, process=process, after_ms=1)
    scheduler.run()
    return found


def test_an_owner_may_end_its_attempt_and_nobody_else_may() -> None:
    stranger = Process("worker")
    done = RUNNING | {"status": "SUCCEEDED"}
    assert change_by(OWNER, NOW, done) == []
    assert change_by(stranger, NOW, done) == ["I7", "I4"]
    assert change_by(stranger, NOW, RUNNING | {"lease_expires_at": NOW + 60_000}) == ["I7", "I4"]
    assert change_by(stranger, NOW, RUNNING | {"next_check_at": NOW + 9}) == []
    assert change_by(stranger, NOW, done | {"deleted_at": NOW}) == []


@pytest.mark.parametrize(
    ("owner", "broken"),
    [
        (OWNER, ["I4"]),
        (Process("worker", ends_at=NOW + 120_000, struck=True), []),
        (Process("worker", ends_at=NOW + 120_000, dead=True), []),
        (Process("worker", ends_at=AFTER_LEASE), []),
    ],
)
def test_the_lease_of_a_worker_that_is_well_does_not_run_out(owner: Process, broken: list[str]) -> None:
    reconciler = Process("reconciler")
    rescued = QUEUED | {"fencing_token": 2, "attempts": 2}
    assert change_by(reconciler, AFTER_LEASE, rescued, owner) == broken


def test_a_rescue_leaves_the_attempts_as_they_are() -> None:
    died = Process("worker", dead=True)
    rescued = QUEUED | {"fencing_token": 2, "attempts": 1}
    assert change_by(Process("reconciler"), AFTER_LEASE, rescued, died) == ["I5"]
