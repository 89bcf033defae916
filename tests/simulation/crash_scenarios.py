"""Every actor's work, one scenario each: what stands before it, what it does, and how the job must end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation.crash_expected import (
    EXHAUSTED,
    EXHAUSTED_COPY,
    GONE,
    OPERATOR,
    REJECTED_COPY,
    SUCCEEDED,
    Expected,
    Strike,
    failed,
)
from tests.simulation.crash_world import CrashWorld
from tests.world import request_for
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.transitions.attempt import claim
from thumbline.service.browse_dead_letters import remove_spent_copies
from thumbline.service.delete_job import delete_job
from thumbline.service.read_job import JobGoneError, JobNotFoundError
from thumbline.service.redrive_job import redrive_copy, redrive_job
from tools.chaos.universe import TIMINGS

PICTURE = b"a picture"
DEAD_SECONDS = TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1


@dataclass(frozen=True, slots=True)
class Scenario:
    """`act` is what the struck actor does, and what is done again by whoever retries it: a client, the
    stream's mapping, the schedule, an operator. None of them retries a worker: its message does."""

    name: str
    prepare: Callable[[CrashWorld], None]
    act: Callable[[CrashWorld], None]
    expected: Expected
    retried: bool = True
    reconciled: bool = True
    """Off for workers: their messages alone must bring the job home (I10)."""
    duplicate: Callable[[CrashWorld], None] | None = None
    """What the other process does; the same as `act` where this is None."""


def _nothing(world: CrashWorld) -> None:
    assert not world.tables.rows


def _submit(world: CrashWorld) -> None:
    world.submit(PICTURE)


def _queue(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.relay()


def _relay(world: CrashWorld) -> None:
    world.relay()


def _work(world: CrashWorld) -> None:
    world.work()


def _work_on_a_duplicate(world: CrashWorld) -> None:
    for job_id in world.tables.rows:
        world.send_to_work_queue(request_for(job_id))
    world.work()


def _reconcile(world: CrashWorld) -> None:
    world.reconcile()


def job_id_of(world: CrashWorld) -> str:
    (job_id,) = world.tables.rows
    return job_id


def _claim_and_die(world: CrashWorld, times: int = 1) -> None:
    """Attempts of workers that died, the last one's lease over."""
    for _ in range(times):
        world.tables.apply(job_id_of(world), claim(job_id_of(world), world.moment()))
        world.clock.advance(DEAD_SECONDS)


def _failing_once(error: Exception) -> Callable[[CrashWorld], None]:
    def prepare(world: CrashWorld) -> None:
        _queue(world)

        def fail() -> None:
            del world.renderer.behaviours[PICTURE]
            raise error

        world.renderer.behaviours[PICTURE] = fail

    return prepare


def _failing_always(error: Exception, dead_attempts: int = 0) -> Callable[[CrashWorld], None]:
    def prepare(world: CrashWorld) -> None:
        _queue(world)
        _claim_and_die(world, dead_attempts)

        def fail() -> None:
            raise error

        world.renderer.behaviours[PICTURE] = fail

    return prepare


def _leased_by_another(world: CrashWorld) -> None:
    _queue(world)
    world.tables.apply(job_id_of(world), claim(job_id_of(world), world.moment()))


def _all_attempts_dead(world: CrashWorld) -> None:
    _queue(world)
    _claim_and_die(world, TIMINGS.attempt_cap)


def _bad_message(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.lose_stream()
    world.send_to_work_queue(request_for(job_id_of(world)).replace(": 1", ": 99"))


def _bad_message_meets_a_lease(world: CrashWorld) -> None:
    _bad_message(world)
    world.tables.apply(job_id_of(world), claim(job_id_of(world), world.moment()))


def _slow(world: CrashWorld) -> None:
    """Rendering takes ten seconds, in which the heart beats once."""
    _queue(world)

    def beat() -> None:
        world.clock.advance(TIMINGS.heartbeat_seconds)
        world.pulse.beat()

    world.renderer.behaviours[PICTURE] = beat


def _message_lost(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.lose_stream()
    world.clock.advance(TIMINGS.queued_patience_seconds + 1)


def _attempt_dead_and_message_lost(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.lose_stream()
    _claim_and_die(world)
    world.clock.advance(TIMINGS.rescue_patience_seconds + 1)


def _all_attempts_dead_and_message_lost(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.lose_stream()
    _claim_and_die(world, TIMINGS.attempt_cap)


def _deadline_over(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.lose_stream()
    world.clock.advance(TIMINGS.deadline_seconds + 1)


def _undelivered(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.lose_stream()
    world.undelivered.put(OutgoingMessage(request_for(job_id_of(world))))


def _relay_gave_up(world: CrashWorld) -> None:
    world.submit(PICTURE)
    world.lose_stream()
    number = world.tables.stream[-1].sequence_number
    info = {"streamArn": "a", "shardId": "s", "startSequenceNumber": number, "endSequenceNumber": number}
    world.relay_failures.put(OutgoingMessage(json.dumps({"DDBStreamBatchInfo": info})))


def _exhausted(world: CrashWorld) -> None:
    """Failed for good, the copy in the dead-letter queue; the picture would now render."""
    _all_attempts_dead(world)
    world.work()
    world.relay()


def _exhausted_unrelayed(world: CrashWorld) -> None:
    _all_attempts_dead(world)
    world.work()


def _succeeded(world: CrashWorld) -> None:
    _queue(world)
    world.work()


def _tombstone_due(world: CrashWorld) -> None:
    """Deleted while a worker was at it, which put its thumbnail after the first clean-up."""
    _succeeded(world)
    job = world.job(job_id_of(world))
    _delete(world)
    for result in job.results.values():
        world.objects.put_thumbnail(result.key, b"late", result.type)
    world.clock.advance(TIMINGS.function_timeout_seconds + TIMINGS.skew_seconds + 1)


def _orphan(world: CrashWorld) -> None:
    world.objects.put_original(f"originals/{world.ids.job_id(world.clock.now())}", b"", _EMPTY_SHA256)
    world.clock.advance(86_400 + 60)


_EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def _redrive_copies(world: CrashWorld) -> None:
    for copy in world.dead_letters.receive(10):
        redrive_copy(copy, world.redriver(OPERATOR))


def _redrive_by_id(world: CrashWorld) -> None:
    redrive_job(job_id_of(world), world.redriver(OPERATOR))


def _redrive_as_the_command_does(world: CrashWorld) -> None:
    job_id = job_id_of(world)
    redrive_job(job_id, world.redriver(OPERATOR))
    remove_spent_copies({job_id}, world.dead_letters, world.tables, 10)


def _delete(world: CrashWorld) -> None:
    for job_id in list(world.tables.rows):
        try:
            delete_job(job_id, "alice", world.deletion)
        except (JobGoneError, JobNotFoundError):
            return


_CRASHED = TransientError(FailureCode.RENDER_CRASHED, "the decoder crashed")
_BROKEN = PermanentError(FailureCode.NOT_AN_IMAGE, "is no picture")
_SUCCEEDS = Expected(end=SUCCEEDED)
_IS_COPIED = Expected(end=EXHAUSTED, copy=EXHAUSTED_COPY)
_GOES = Expected(end=GONE)
_MAY_LEAVE_AN_ORPHAN = Expected(
    end=SUCCEEDED,
    orphaned=frozenset(
        {
            ("put_original", Strike.KILL_AFTER),
            ("put_original", Strike.UNKNOWN),
            ("put_original", Strike.DUPLICATE),
            ("accept", Strike.KILL_BEFORE),
            ("accept", Strike.DUPLICATE),
        }
    ),
)
_IS_COPIED_BY_THE_RELAY = Expected(
    end=EXHAUSTED,
    copy=EXHAUSTED_COPY,
    copied_twice=frozenset(("dead_letters.send", strike) for strike in set(Strike) - {Strike.KILL_BEFORE}),
)
_IS_REJECTED = Expected(
    end=failed(FailureCode.BAD_MESSAGE),
    copy=REJECTED_COPY,
    succeeds=frozenset(
        {
            # The reconciler takes the hidden message for lost and sends a good one.
            ("work_queue.receive", Strike.KILL_AFTER),
            ("work_queue.receive", Strike.UNKNOWN),
            ("work_queue.change_visibility", Strike.KILL_BEFORE),
            ("dead_letters.send", Strike.KILL_BEFORE),
            ("dead_letters.send", Strike.KILL_AFTER),
            ("reject_message", Strike.KILL_BEFORE),
            # The other worker's message is a good one.
            ("dead_letters.send", Strike.DUPLICATE),
            ("reject_message", Strike.DUPLICATE),
        }
    ),
    copied_twice=frozenset(
        {
            ("dead_letters.send", Strike.KILL_AFTER),
            ("dead_letters.send", Strike.UNKNOWN),
            ("reject_message", Strike.KILL_BEFORE),
            ("reject_message", Strike.KILL_AFTER),
            ("reject_message", Strike.UNKNOWN),
            ("work_queue.delete", Strike.KILL_BEFORE),
        }
    ),
)


def _of_worker(
    name: str, prepare: Callable[[CrashWorld], None], expected: Expected, *, reconciled: bool = False
) -> Scenario:
    return Scenario(
        name,
        prepare,
        _work,
        expected,
        retried=False,
        reconciled=reconciled,
        duplicate=_work_on_a_duplicate,
    )


SCENARIOS = (
    Scenario("ingest", _nothing, _submit, _MAY_LEAVE_AN_ORPHAN),
    Scenario("ingest, replay", _submit, _submit, _SUCCEEDS),
    Scenario("relay", _submit, _relay, _SUCCEEDS),
    Scenario("relay, copy", _exhausted_unrelayed, _relay, _IS_COPIED_BY_THE_RELAY),
    _of_worker("worker", _queue, _SUCCEEDS),
    _of_worker("worker, heartbeat", _slow, _SUCCEEDS),
    _of_worker("worker, transient", _failing_once(_CRASHED), _SUCCEEDS),
    _of_worker("worker, permanent", _failing_always(_BROKEN), Expected(end=failed(FailureCode.NOT_AN_IMAGE))),
    _of_worker("worker, last attempt", _failing_always(_CRASHED, 4), _IS_COPIED),
    _of_worker("worker, foreign lease", _leased_by_another, _SUCCEEDS),
    _of_worker("worker, attempts dead", _all_attempts_dead, _IS_COPIED),
    _of_worker("worker, bad message", _bad_message, _IS_REJECTED, reconciled=True),
    _of_worker(
        "worker, bad message of a leased job", _bad_message_meets_a_lease, _IS_REJECTED, reconciled=True
    ),
    Scenario("reconciler, republish", _message_lost, _reconcile, _SUCCEEDS),
    Scenario("reconciler, rescue", _attempt_dead_and_message_lost, _reconcile, _SUCCEEDS),
    Scenario("reconciler, exhaust", _all_attempts_dead_and_message_lost, _reconcile, _IS_COPIED),
    Scenario("reconciler, expire", _deadline_over, _reconcile, Expected(end=failed(FailureCode.EXPIRED))),
    Scenario("reconciler, undelivered", _undelivered, _reconcile, _SUCCEEDS),
    Scenario("reconciler, relay failure", _relay_gave_up, _reconcile, _SUCCEEDS),
    Scenario("reconciler, tombstone", _tombstone_due, _reconcile, _GOES),
    Scenario("reconciler, orphan", _orphan, _reconcile, _GOES),
    Scenario("redrive, copy", _exhausted, _redrive_copies, Expected(end=SUCCEEDED, redriven=True)),
    Scenario(
        "redrive, by id",
        _exhausted,
        _redrive_by_id,
        Expected(end=SUCCEEDED, redriven=True, copy=EXHAUSTED_COPY),
    ),
    Scenario(
        "redrive, command", _exhausted, _redrive_as_the_command_does, Expected(end=SUCCEEDED, redriven=True)
    ),
    Scenario("delete, open", _queue, _delete, _GOES),
    Scenario("delete, finished", _succeeded, _delete, _GOES),
)
