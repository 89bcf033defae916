"""Each transition against every state of a row: the table of the protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.world import World, new_job
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure, Job, Status, phase_of
from thumbline.domain.keys import shard_of
from thumbline.domain.row import holds
from thumbline.domain.transition import Moment, Transition, TransitionRefusedError, apply
from thumbline.domain.transitions import attempt, deletion, recovery, redrive, unleased
from tools.chaos.universe import TIMINGS

WORLD = World()
NOW = WORLD.clock.now()
FAILURE = Failure(FailureCode.RENDER_CRASHED, "died", retryable=True)
SKEW_MS = TIMINGS.skew_seconds * 1000
BASE = new_job(WORLD).to_row()


def row(**changes: Any) -> dict[str, Any]:
    return BASE | changes


RUNNING = {"status": "RUNNING", "fencing_token": 3, "attempts": 2, "started_at": NOW}
FAILED = {"status": "FAILED", "fencing_token": 3, "finished_at": NOW, "failure": FAILURE.to_record()}

STATES: dict[str, dict[str, Any]] = {
    "queued": row(),
    "queued within the skew": row(available_at=NOW + SKEW_MS),
    "queued later": row(available_at=NOW + SKEW_MS + 1),
    "queued at the cap": row(attempts=5),
    "queued past the deadline": row(deadline_at=NOW - 1),
    "queued deleted": row(deleted_at=NOW),
    "leased": row(**RUNNING, lease_expires_at=NOW + 1000),
    "leased at the cap": row(**{**RUNNING, "attempts": 5}, lease_expires_at=NOW + 1000),
    "leased past the deadline": row(**RUNNING, lease_expires_at=NOW + 1000, deadline_at=NOW - 1),
    "leased by another": row(**{**RUNNING, "fencing_token": 4}, lease_expires_at=NOW + 1000),
    "lease over within the skew": row(**RUNNING, lease_expires_at=NOW - SKEW_MS),
    "lease dead": row(**RUNNING, lease_expires_at=NOW - SKEW_MS - 1),
    "lease dead at the cap": row(**{**RUNNING, "attempts": 5}, lease_expires_at=NOW - SKEW_MS - 1),
    "lease dead past the deadline": row(**RUNNING, lease_expires_at=NOW - SKEW_MS - 1, deadline_at=NOW - 1),
    "succeeded": row(status="SUCCEEDED", fencing_token=3, next_check_at=NOW),
    "failed": row(**FAILED, next_check_at=NOW),
    "failed in generation 2": row(**FAILED, generation=2, next_check_at=NOW + 1),
    "failed and deleted": row(**FAILED, deleted_at=NOW, next_check_at=NOW),
}

SEEN = Job.from_row(row(**RUNNING, lease_expires_at=NOW - SKEW_MS - 1))
SEEN_QUEUED = Job.from_row(row())
SEEN_FAILED = Job.from_row(row(**FAILED, next_check_at=NOW))

LEASED_BY_ME = {
    "leased",
    "leased past the deadline",
    "leased at the cap",
    "lease over within the skew",
    "lease dead",
    "lease dead at the cap",
    "lease dead past the deadline",
}
QUEUED = {name for name in STATES if name.startswith("queued") and "deleted" not in name}
DEAD = {name for name in STATES if name.startswith("lease dead")}
OPEN_NAMES = QUEUED | LEASED_BY_ME | {"leased by another"}

Make = Callable[[], Transition]
TABLE: dict[str, tuple[Make, set[str]]] = {
    "claim": (
        lambda: attempt.claim(BASE["job_id"], WORLD.moment()),
        {"queued", "queued within the skew", "lease dead"},
    ),
    "extend_lease": (lambda: attempt.extend_lease(3, WORLD.moment()), LEASED_BY_ME),
    "complete": (lambda: attempt.complete(BASE["job_id"], 3, {}, WORLD.moment()), LEASED_BY_ME),
    "fail": (lambda: attempt.fail(BASE["job_id"], 3, FAILURE, WORLD.moment()), LEASED_BY_ME),
    "exhaust": (
        lambda: attempt.exhaust(BASE["job_id"], 3, FAILURE, WORLD.moment()),
        {"leased at the cap", "lease dead at the cap"},
    ),
    "release": (
        lambda: attempt.release(
            SEEN, FAILURE, available_at=NOW + 9, give_attempt_back=False, moment=WORLD.moment()
        ),
        LEASED_BY_ME,
    ),
    "exhaust_abandoned": (
        lambda: unleased.exhaust_abandoned(BASE["job_id"], FAILURE, WORLD.moment()),
        {"queued at the cap", "lease dead at the cap"},
    ),
    "expire": (
        lambda: unleased.expire(BASE["job_id"], WORLD.moment()),
        {"queued past the deadline", "lease dead past the deadline"},
    ),
    "reject_message": (
        lambda: unleased.reject_message(BASE["job_id"], "why", WORLD.moment()),
        QUEUED | DEAD,
    ),
    "republish": (
        lambda: recovery.republish(SEEN_QUEUED, WORLD.moment()),
        QUEUED - {"queued within the skew", "queued later"},
    ),
    "rescue": (
        lambda: recovery.rescue(SEEN, WORLD.moment()),
        {"lease dead", "lease dead past the deadline"},
    ),
    "requeue a queued job": (
        lambda: recovery.requeue(SEEN_QUEUED, WORLD.moment()),
        {"queued", "queued past the deadline"},
    ),
    "requeue a dead lease": (
        lambda: recovery.requeue(SEEN, WORLD.moment()),
        {"lease dead", "lease dead past the deadline"},
    ),
    "owe_again a publish": (lambda: recovery.owe_again(SEEN_QUEUED, WORLD.moment()), QUEUED),
    "owe_again a copy": (lambda: recovery.owe_again(SEEN_FAILED, WORLD.moment()), {"failed"}),
    "postpone_check of a queued job": (
        lambda: recovery.postpone_check(SEEN_QUEUED, NOW + 9, WORLD.moment()),
        QUEUED,
    ),
    "postpone_check of a lease": (
        lambda: recovery.postpone_check(SEEN, NOW + 9, WORLD.moment()),
        LEASED_BY_ME | {"leased by another"},
    ),
    "redrive": (
        lambda: redrive.redrive(BASE["job_id"], 1, operator="ops", moment=WORLD.moment()),
        {"failed"},
    ),
    "delete_open": (lambda: deletion.delete_open(BASE["job_id"], WORLD.moment()), OPEN_NAMES),
    "delete_terminal": (
        lambda: deletion.delete_terminal(BASE["job_id"], WORLD.moment()),
        {"succeeded", "failed", "failed in generation 2"},
    ),
    "retire": (lambda: deletion.retire(SEEN_FAILED, WORLD.moment()), {"succeeded", "failed"}),
    "purge": (lambda: deletion.purge(SEEN_FAILED, WORLD.moment()), {"failed and deleted"}),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_transition_holds_in_its_states_and_in_no_other(name: str) -> None:
    make, allowed = TABLE[name]
    held = set()
    for state, before in STATES.items():
        with contextlib.suppress(TransitionRefusedError):
            apply(make(), before)
            held.add(state)
    assert held == allowed


@pytest.mark.parametrize("name", [name for name in TABLE if name != "purge"])
def test_a_row_is_in_the_due_index_under_its_phase(name: str) -> None:
    make, allowed = TABLE[name]
    for state in allowed:
        before = STATES[state]
        before |= {"check_shard": shard_of(before["job_id"], phase_of(Status(before["status"])))}
        after = apply(make(), before)
        assert after["check_shard"] == shard_of(after["job_id"], phase_of(Status(after["status"]))), state


@pytest.mark.parametrize("name", TABLE)
def test_a_refusal_carries_the_row(name: str) -> None:
    make, allowed = TABLE[name]
    before = STATES[next(state for state in STATES if state not in allowed)]
    with pytest.raises(TransitionRefusedError) as refused:
        apply(make(), before)
    assert refused.value.job == Job.from_row(before)


@pytest.mark.parametrize("name", TABLE)
def test_a_missing_row_refuses_every_transition(name: str) -> None:
    with pytest.raises(TransitionRefusedError) as refused:
        apply(TABLE[name][0](), None)
    assert refused.value.job is None


@pytest.mark.parametrize("name", [name for name in TABLE if name != "purge"])
def test_an_unheard_success_is_not_done_twice(name: str) -> None:
    """Trap 13: a retry that loses against its own first write."""
    make, allowed = TABLE[name]
    transition = make()
    after = apply(transition, STATES[sorted(allowed)[0]])
    assert after["write_id"] == transition.write_id
    assert apply(transition, after) == after


def test_a_claim_counts_before_any_byte_is_decoded() -> None:
    moment = WORLD.moment()
    after = Job.from_row(apply(attempt.claim(BASE["job_id"], moment), STATES["queued"]))
    assert (after.status, after.fencing_token, after.attempts) == (Status.RUNNING, 1, 1)
    assert after.lease_expires_at == NOW + 30_000
    assert after.started_at == NOW
    assert after.next_check_at == NOW + 35_001


def test_a_second_claim_keeps_the_first_start() -> None:
    before = STATES["lease dead"] | {"started_at": NOW - 99}
    assert apply(attempt.claim(BASE["job_id"], WORLD.moment()), before)["started_at"] == NOW - 99


def test_an_attempt_is_given_back_once() -> None:
    transition = attempt.release(
        SEEN, FAILURE, available_at=NOW + 9, give_attempt_back=True, moment=WORLD.moment()
    )
    after = apply(transition, STATES["leased"])
    assert after["attempts"] == 1
    assert after["available_at"] == NOW + 9
    assert "lease_expires_at" not in after


def test_terminal_rows_are_kept_for_their_retention_and_found_at_its_end() -> None:
    after = apply(attempt.complete(BASE["job_id"], 3, {}, WORLD.moment()), STATES["leased"])
    end = NOW + 365 * 86_400_000
    assert after["next_check_at"] == end
    assert after["expires_at"] == end // 1000 + 7 * 86_400
    assert after["finished_at"] == NOW
    assert "lease_expires_at" not in after


def test_retention_zero_keeps_for_ever() -> None:
    from dataclasses import replace

    world = World(timings=replace(TIMINGS, retention_days=0))
    after = apply(attempt.complete(BASE["job_id"], 3, {}, world.moment()), STATES["leased"])
    assert not {"next_check_at", "check_shard", "expires_at"} & set(after)


def test_a_redrive_is_a_new_generation_with_fresh_attempts_and_deadline_and_an_audit_entry() -> None:
    before = STATES["failed"] | {"attempts": 5, "expires_at": 1, "republish_count": 7}
    transition = redrive.redrive(BASE["job_id"], 1, operator="ops", moment=WORLD.moment())
    after = apply(transition, before)
    assert after["status"] == "QUEUED"
    assert (after["generation"], after["attempts"], after["outbox_seq"]) == (2, 0, 2)
    assert after["deadline_at"] == NOW + 86_400_000
    assert after["republish_count"] == 0
    assert after["fencing_token"] == before["fencing_token"]  # tokens never go back
    assert not {"expires_at", "finished_at", "failure"} & set(after)
    assert after["trace"] == [{"event": "redrive", "at": NOW, "by": "ops", "generation": 2}]


@pytest.mark.parametrize("name", ["exhaust", "exhaust_abandoned", "requeue a queued job", "owe_again a copy"])
def test_what_owes_a_publish_moves_outbox_seq(name: str) -> None:
    make, allowed = TABLE[name]
    before = STATES[sorted(allowed)[0]]
    assert apply(make(), before)["outbox_seq"] == before["outbox_seq"] + 1


@pytest.mark.parametrize(
    "name", ["claim", "release", "fail", "complete", "expire", "rescue", "republish", "reject_message"]
)
def test_what_owes_nothing_leaves_outbox_seq(name: str) -> None:
    make, allowed = TABLE[name]
    before = STATES[sorted(allowed)[0]]
    assert apply(make(), before)["outbox_seq"] == before["outbox_seq"]


def test_a_success_tells_no_failure_of_an_attempt_before_it() -> None:
    before = STATES["leased"] | {"failure": FAILURE.to_record()}
    assert "failure" not in apply(attempt.complete(BASE["job_id"], 3, {}, WORLD.moment()), before)


@pytest.mark.parametrize("make", [recovery.rescue, recovery.requeue])
def test_a_dead_lease_that_is_taken_back_is_claimable_at_once(
    make: Callable[[Job, Moment], Transition],
) -> None:
    before = STATES["lease dead"] | {"republish_count": 3}
    after = apply(make(Job.from_row(before), WORLD.moment()), before)
    assert (after["status"], after["available_at"], after["republish_count"]) == ("QUEUED", NOW, 0)
    assert "lease_expires_at" not in after
    assert after["next_check_at"] == NOW + TIMINGS.queued_patience_seconds * 1000
    assert apply(attempt.claim(BASE["job_id"], WORLD.moment()), after)["fencing_token"] == 4


def test_a_requeue_keeps_a_backoff() -> None:
    before = STATES["queued later"]
    after = apply(recovery.requeue(Job.from_row(before), WORLD.moment()), before)
    assert after["available_at"] == before["available_at"]


def test_a_delete_moves_the_token_and_leaves_a_tombstone() -> None:
    after = apply(deletion.delete_open(BASE["job_id"], WORLD.moment()), STATES["leased"])
    assert (after["status"], after["deleted_at"], after["fencing_token"]) == ("FAILED", NOW, 4)
    assert after["failure"]["code"] == "deleted"
    assert after["finished_at"] == NOW
    assert "lease_expires_at" not in after
    assert after["next_check_at"] == NOW + 125_000
    assert after["expires_at"] == (NOW + 125_000) // 1000 + 7 * 86_400  # the reconciler's turn comes first


@pytest.mark.parametrize("make", [deletion.retire, deletion.purge])
@pytest.mark.parametrize(
    ("seen_at", "check_at", "holds_now"),
    [(NOW, NOW, True), (NOW - 1, NOW, False), (NOW, NOW - 1, False), (NOW + 1, NOW + 1, False)],
    ids=["due", "put off since", "brought forward since", "not due"],
)
def test_an_end_is_for_the_check_that_was_seen_and_not_before_its_time(
    make: Callable[[Job, Moment], Transition], seen_at: int, check_at: int, holds_now: bool
) -> None:
    end = STATES["failed"] | ({} if make is deletion.retire else {"deleted_at": NOW})
    seen = Job.from_row(end | {"next_check_at": seen_at})
    assert holds(make(seen, WORLD.moment()).condition, end | {"next_check_at": check_at}) is holds_now
