"""The worker on the twins: what each delivery leaves in the row, the queue and the bucket."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from tests.world import SMALL, World, outcomes, request_for
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.job import Status
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.domain.transitions.attempt import claim, extend_lease
from thumbline.domain.transitions.deletion import delete_open
from thumbline.service.worker import Outcome
from tools.chaos.universe import TIMINGS, VISIBILITY_SECONDS


@pytest.fixture
def world() -> World:
    return World()


def raising(error: Exception) -> Callable[[], None]:
    def behave() -> None:
        raise error

    return behave


def test_a_queued_job_becomes_a_stored_thumbnail(world: World) -> None:
    job_id = world.submit(b"pixels", presets=(DEFAULT_PRESET, SMALL)).job_id
    world.relay()
    report = world.work()
    job = world.job(job_id)
    assert outcomes(report) == [Outcome.SUCCEEDED]
    assert report.unacknowledged == ()
    assert (job.status, job.attempts, job.fencing_token) == (Status.SUCCEEDED, 1, 1)
    assert job.lease_expires_at is None
    assert job.finished_at == world.clock.now()
    assert set(job.results) == {"thumbnail", "small"}
    for result in job.results.values():
        stored = world.objects.objects[result.key]
        assert hashlib.sha256(stored.data).hexdigest() == result.sha256
        assert result.key == f"thumbnails/{job_id}/{_name(result.key)}"
        assert stored.content_type == result.type == "image/jpeg"
    assert not world.work_queue.messages


def _name(key: str) -> str:
    return key.rpartition("/")[2]


def test_a_terminal_job_is_skipped_and_nothing_is_rendered_again(world: World) -> None:
    """S7, S74, S131."""
    job_id = world.queued()
    world.work()
    before = world.tables.rows[job_id]
    world.send_to_work_queue(request_for(job_id))
    assert outcomes(world.work()) == [Outcome.SKIPPED]
    assert world.tables.rows[job_id] == before
    assert len(world.renderer.rendered) == 1
    assert not world.work_queue.messages


def test_a_message_without_a_row_is_acknowledged_and_counted(world: World) -> None:
    """S29."""
    world.send_to_work_queue(request_for(world.ids.job_id(world.clock.now())))
    assert outcomes(world.work()) == [Outcome.SKIPPED]
    assert not world.work_queue.messages


def test_a_permanent_failure_ends_on_the_first_attempt_with_its_code(world: World) -> None:
    """S75, S112."""
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = raising(PermanentError(FailureCode.TRUNCATED, "cut short"))
    assert outcomes(world.work()) == [Outcome.FAILED]
    job = world.job(job_id)
    assert job.status is Status.FAILED
    assert job.failure is not None
    assert (job.failure.code, job.failure.detail, job.failure.retryable) == ("truncated", "cut short", False)
    assert job.attempts == 1
    assert not world.work_queue.messages
    world.relay()
    assert not world.dead_letters.messages


def test_a_missing_original_is_permanent_and_says_so(world: World) -> None:
    job_id = world.queued()
    world.objects.objects.clear()
    assert outcomes(world.work()) == [Outcome.FAILED]
    failure = world.job(job_id).failure
    assert failure is not None
    assert failure.code is FailureCode.ORIGINAL_MISSING


def test_a_transient_failure_releases_row_and_message_to_the_same_moment(world: World) -> None:
    """S76, S113: half of base x 2^0 = 1 s with this jitter."""
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = raising(TransientError(FailureCode.RENDER_CRASHED, "died"))
    report = world.work()
    job = world.job(job_id)
    assert outcomes(report) == [Outcome.RELEASED]
    assert len(report.unacknowledged) == 1
    assert (job.status, job.attempts) == (Status.QUEUED, 1)
    assert job.available_at == world.clock.now() + 1_000
    (stored,) = world.work_queue.messages.values()
    assert job.available_at <= stored.visible_at <= job.available_at + 2_000


def test_backoff_grows_and_the_last_attempt_exhausts_with_an_annotated_copy(world: World) -> None:
    """S113, S115."""
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = raising(TransientError(FailureCode.RENDER_CRASHED, "died"))
    waits = []
    for _ in range(TIMINGS.attempt_cap - 1):
        assert outcomes(world.work()) == [Outcome.RELEASED]
        waits.append(world.job(job_id).available_at - world.clock.now())
        world.clock.advance(waits[-1] / 1000 + 3)
    assert waits == [1_000, 2_000, 4_000, 8_000]
    assert outcomes(world.work()) == [Outcome.EXHAUSTED]
    job = world.job(job_id)
    assert (job.status, job.attempts) == (Status.FAILED, 5)
    assert job.failure is not None
    assert job.failure.code is FailureCode.ATTEMPTS_EXHAUSTED
    assert job.failure.cause is FailureCode.RENDER_CRASHED
    assert not world.work_queue.messages
    world.relay()
    (copy,) = world.dead_letters.messages.values()
    assert copy.message.body == request_for(job_id)
    assert copy.message.attributes == {
        "job_id": job_id,
        "generation": 1,
        "code": "attempts_exhausted",
        "attempts": 5,
        "last_error": "render_crashed",
        "reason": job.failure.detail,
        "first_seen": job.created_at,
    }


@pytest.mark.parametrize("operation", ["get_original", "put_thumbnail"])
def test_a_dependency_that_is_down_gives_the_attempt_back(world: World, operation: str) -> None:
    job_id = world.queued()
    for _ in range(8):  # more often than there are attempts
        world.faults.plan(operation, Fault.REFUSED)
        assert outcomes(world.work()) == [Outcome.RELEASED]
        assert world.job(job_id).attempts == 0
        world.clock.advance(1_000)
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]
    assert world.job(job_id).fencing_token == 9


def test_a_live_foreign_lease_is_bounced_to_its_end_and_never_acknowledged(world: World) -> None:
    job_id = world.queued()
    world.tables.apply(job_id, claim(job_id, world.moment()))
    report = world.work()
    assert outcomes(report) == [Outcome.BOUNCED]
    assert len(report.unacknowledged) == 1
    (stored,) = world.work_queue.messages.values()
    lease_over = world.clock.now() + (TIMINGS.lease_seconds + TIMINGS.skew_seconds) * 1000
    assert lease_over < stored.visible_at <= lease_over + 3_000
    assert world.job(job_id).fencing_token == 1


def test_a_dead_lease_is_claimed_by_the_redelivery(world: World) -> None:
    job_id = world.queued()
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1)
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]
    assert (world.job(job_id).attempts, world.job(job_id).fencing_token) == (2, 2)


def test_nobody_claims_before_available_at(world: World) -> None:
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = raising(TransientError(FailureCode.RENDER_CRASHED, "died"))
    world.jitter = 1.0
    for _ in range(3):
        world.work()
        world.clock.advance(60)
    world.work()  # the fourth backoff is 16 s
    del world.renderer.behaviours[b"bad"]
    world.send_to_work_queue(request_for(job_id))
    assert outcomes(world.work()) == [Outcome.BOUNCED]
    assert world.job(job_id).attempts == 4
    world.clock.advance(20)
    assert Outcome.SUCCEEDED in outcomes(world.work())


def test_a_row_that_a_later_version_released_is_worked_on_and_told_truthfully(world: World) -> None:
    """A release that was rolled back: its codes are in the rows of open jobs."""
    job_id = world.queued()
    world.tables.rows[job_id] |= {
        "failure": {"code": "of_tomorrow", "detail": "It broke", "retryable": True},
        "attempts": TIMINGS.attempt_cap,
    }
    assert outcomes(world.work()) == [Outcome.EXHAUSTED]
    assert world.tables.rows[job_id]["failure"] == {
        "code": "attempts_exhausted",
        "detail": "The picture was not finished in 5 attempts; the last recorded error: internal: It broke"
        " (recorded by a later version as 'of_tomorrow')",
        "retryable": True,
        "cause": "internal",
    }


def test_an_error_is_not_told_as_the_end_of_an_attempt_that_was_killed(world: World) -> None:
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = raising(TransientError(FailureCode.RENDER_CRASHED, "died"))
    world.work()
    for _ in range(TIMINGS.attempt_cap - 1):
        world.clock.advance(60)
        world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(60)
    assert outcomes(world.work()) == [Outcome.EXHAUSTED]
    world.relay()
    (copy,) = world.dead_letters.messages.values()
    assert copy.message.attributes["last_error"] == "render_crashed"
    assert copy.message.attributes["reason"] == (
        "The picture was not finished in 5 attempts; the last recorded error: render_crashed: died"
    )


def test_attempts_that_all_died_are_exhausted_by_the_next_receiver(world: World) -> None:
    job_id = world.queued()
    for _ in range(TIMINGS.attempt_cap):
        world.tables.apply(job_id, claim(job_id, world.moment()))
        world.clock.advance(36)
    assert outcomes(world.work()) == [Outcome.EXHAUSTED]
    job = world.job(job_id)
    assert job.failure is not None
    assert job.failure.code is FailureCode.ATTEMPTS_EXHAUSTED
    world.relay()
    (copy,) = world.dead_letters.messages.values()
    assert copy.message.attributes["last_error"] == "none recorded"
    assert copy.message.attributes["reason"] == (
        "The picture was not finished in 5 attempts; no error was recorded"
    )


def test_a_job_past_its_deadline_is_expired_by_its_receiver(world: World) -> None:
    job_id = world.queued()
    world.clock.advance(TIMINGS.deadline_seconds + 1)
    assert outcomes(world.work()) == [Outcome.EXPIRED]
    job = world.job(job_id)
    assert job.failure is not None
    assert job.failure.code is FailureCode.EXPIRED
    assert not world.renderer.rendered


def test_a_live_attempt_is_not_expired(world: World) -> None:
    """I7."""
    job_id = world.queued()
    world.clock.advance(TIMINGS.deadline_seconds - 1)
    world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(10)
    assert outcomes(world.work()) == [Outcome.BOUNCED]
    assert world.job(job_id).status is Status.RUNNING


def test_one_bad_record_never_touches_its_siblings(world: World) -> None:
    good = [world.queued(b"good %d" % n, f"key {n}".replace(" ", "-")) for n in range(3)]
    world.send_to_work_queue("junk")
    bad = world.queued(b"bad", "bad")
    world.renderer.behaviours[b"bad"] = raising(ZeroDivisionError("a bug of ours"))
    report = world.work(10)
    assert outcomes(report) == [*[Outcome.SUCCEEDED] * 3, Outcome.REJECTED, Outcome.BROKEN]
    assert "ZeroDivisionError" in report.processed[-1].note
    assert all(world.job(job_id).status is Status.SUCCEEDED for job_id in good)
    assert world.job(bad).status is Status.RUNNING
    assert len(world.work_queue.messages) == 1


def test_a_bug_spends_its_attempts_and_ends_in_the_dead_letter_queue(world: World) -> None:
    job_id = world.queued(b"bad")
    world.renderer.behaviours[b"bad"] = raising(ZeroDivisionError("a bug of ours"))
    for _ in range(TIMINGS.attempt_cap + 1):
        world.work()
        world.clock.advance(60)
    assert world.job(job_id).status is Status.FAILED
    assert world.relay().copied == 1


@pytest.mark.parametrize("fault", list(Fault))
def test_a_row_that_cannot_be_claimed_waits_and_nothing_is_shrunk(world: World, fault: Fault) -> None:
    """min(30 x 2^(receives - 1), 900) s, jittered: 22 or 23 s here."""
    world.queued(b"one", "one")
    world.queued(b"two", "two")
    world.faults.plan("claim", fault, fault)
    report = world.work()
    assert outcomes(report) == [Outcome.UNREADABLE] * 2
    for stored in world.work_queue.messages.values():
        assert stored.visible_at - world.clock.now() in (22_000, 23_000)


def test_waiting_siblings_keep_the_queues_own_timer_until_a_claim_succeeds(world: World) -> None:
    world.queued(b"one", "one")
    world.queued(b"two", "two")
    seen: list[int] = []

    def look(event: str) -> None:
        if event in ("before claim", "after claim"):
            second = list(world.work_queue.messages.values())[1]
            seen.append(second.visible_at - world.clock.now())

    world.faults.watch = look
    world.work()
    held = (TIMINGS.lease_seconds + TIMINGS.skew_seconds + 2) * 1000
    assert seen == [VISIBILITY_SECONDS * 1000] * 2 + [held] * 2


@pytest.mark.parametrize("fault", list(Fault))
def test_an_unheard_completion_is_not_acknowledged_and_costs_one_attempt_at_most(
    world: World, fault: Fault
) -> None:
    job_id = world.queued()
    world.faults.plan("complete", fault)
    report = world.work()
    assert outcomes(report) == [Outcome.UNREADABLE]
    assert len(world.work_queue.messages) == 1
    world.clock.advance(60)
    again = outcomes(world.work())
    assert again == [Outcome.SKIPPED if fault is Fault.ANSWER_LOST else Outcome.SUCCEEDED]
    job = world.job(job_id)
    assert job.status is Status.SUCCEEDED
    assert job.attempts <= 2
    (result,) = job.results.values()
    assert result.key in world.objects.objects


def test_a_worker_that_lost_its_lease_writes_nothing_and_does_not_acknowledge(world: World) -> None:
    """S38, S136: the second worker finishes first; the first one's write is fenced."""
    job_id = world.queued(b"slow")

    def lose() -> None:
        del world.renderer.behaviours[b"slow"]
        world.clock.advance(60)
        world.tables.apply(job_id, claim(job_id, world.moment()))

    world.renderer.behaviours[b"slow"] = lose
    report = world.work()
    assert outcomes(report) == [Outcome.LOST]
    assert len(report.unacknowledged) == 1
    job = world.job(job_id)
    assert (job.status, job.fencing_token, job.results) == (Status.RUNNING, 2, {})


def test_a_delete_during_the_attempt_wins(world: World) -> None:
    job_id = world.queued(b"slow")

    def delete() -> None:
        world.tables.apply(job_id, delete_open(job_id, world.moment()))

    world.renderer.behaviours[b"slow"] = delete
    assert outcomes(world.work()) == [Outcome.FENCED]
    assert world.job(job_id).is_deleted
    assert not world.work_queue.messages


def test_only_the_owner_extends_a_lease(world: World) -> None:
    job_id = world.queued()
    first = world.tables.apply(job_id, claim(job_id, world.moment()))
    world.clock.advance(10)
    extended = world.tables.apply(job_id, extend_lease(first.fencing_token, world.moment()))
    assert extended.lease_expires_at == world.clock.now() + TIMINGS.lease_seconds * 1000
    assert extended.next_check_at == first.next_check_at
