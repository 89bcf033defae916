"""Conditions that only a second writer at the same moment can need; recovery is switched off in each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.simulation.crash_world import CrashWorld
from tests.world import World, lost_message, outcomes, request_for
from thumbline.adapters.memory.due_index import MemoryDueIndex
from thumbline.adapters.memory.jobs import MemoryTables
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure, Job
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.row import holds
from thumbline.domain.transition import Transition, TransitionRefusedError
from thumbline.domain.transitions import attempt, deletion, recovery, redrive, unleased
from thumbline.service.reconcile.reconciler import Healed
from thumbline.service.redrive_job import redrive_copy
from thumbline.service.worker import Outcome
from tools.chaos.scheduler import ProcessKilledError
from tools.chaos.universe import TIMINGS

FAILURE = Failure(FailureCode.RENDER_CRASHED, "died", retryable=True)
DEAD_SECONDS = TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1


@pytest.fixture
def world() -> World:
    return World()


def refused(world: World, job_id: str, transition: Transition) -> bool:
    try:
        world.tables.apply(job_id, transition)
    except TransitionRefusedError:
        return True
    return False


def claim(world: World, job_id: str) -> Job:
    return world.tables.apply(job_id, attempt.claim(job_id, world.moment()))


@pytest.mark.parametrize("make", [attempt.claim, unleased.expire, deletion.delete_open])
def test_no_condition_holds_on_a_row_that_shows_its_own_write_id(
    world: World, make: Callable[..., Transition]
) -> None:
    """DynamoDB must refuse a retry of what has already happened; the old image then tells that it has."""
    job_id = world.submit().job_id
    world.clock.advance(
        TIMINGS.deadline_seconds - 1 if make is attempt.claim else TIMINGS.deadline_seconds + 1
    )
    transition = make(job_id, world.moment())
    row = world.tables.rows[job_id]
    assert holds(transition.condition, row)
    assert not holds(transition.condition, row | {"write_id": transition.write_id})


def test_of_two_passes_that_saw_the_same_job_one_republishes(world: World) -> None:
    job_id = lost_message(world)
    seen = world.job(job_id)
    world.tables.apply(job_id, recovery.republish(seen, world.moment()))
    assert refused(world, job_id, recovery.republish(seen, world.moment()))


def test_a_rescue_is_for_the_attempt_that_was_seen(world: World) -> None:
    """Between the read and the write the dead attempt was claimed again and died again."""
    job_id = lost_message(world)
    claim(world, job_id)
    world.clock.advance(DEAD_SECONDS)
    seen = world.job(job_id)
    claim(world, job_id)
    world.clock.advance(DEAD_SECONDS)
    assert refused(world, job_id, recovery.rescue(seen, world.moment()))
    assert not refused(world, job_id, recovery.rescue(world.job(job_id), world.moment()))


def test_two_passes_with_the_same_lost_record_owe_one_publish(world: World) -> None:
    job_id = lost_message(world)
    seen = world.job(job_id)
    world.tables.apply(job_id, recovery.owe_again(seen, world.moment()))
    assert refused(world, job_id, recovery.owe_again(seen, world.moment()))


def test_a_postponement_does_not_undo_a_nearer_check(world: World) -> None:
    """A release in between has set its own check; the pass that read before it must not push it away."""
    job_id = lost_message(world)
    seen = world.job(job_id)
    claimed = claim(world, job_id)
    released = attempt.release(
        claimed, FAILURE, available_at=world.clock.now(), give_attempt_back=False, moment=world.moment()
    )
    world.clock.advance(7)
    world.tables.apply(job_id, released)
    world.clock.advance(1)
    check = world.tables.apply(job_id, recovery.republish(world.job(job_id), world.moment())).next_check_at
    assert refused(world, job_id, recovery.postpone_check(seen, world.clock.now() + 10**9, world.moment()))
    assert world.job(job_id).next_check_at == check


def test_a_redrive_renews_the_deadline(world: World) -> None:
    job_id = world.submit().job_id
    world.clock.advance(TIMINGS.deadline_seconds + 1)
    world.tables.apply(job_id, unleased.expire(job_id, world.moment()))
    again = world.tables.apply(job_id, redrive.redrive(job_id, 1, operator="ops", moment=world.moment()))
    assert again.deadline_at == world.clock.now() + TIMINGS.deadline_seconds * 1000
    assert claim(world, job_id).attempts == 1


def test_a_job_redriven_at_the_end_of_its_retention_is_not_retired(world: World) -> None:
    job_id = world.submit().job_id
    world.clock.advance(TIMINGS.deadline_seconds + 1)
    world.tables.apply(job_id, unleased.expire(job_id, world.moment()))
    world.clock.advance(TIMINGS.retention_days * 86_400)
    seen = world.job(job_id)
    again = world.tables.apply(job_id, redrive.redrive(job_id, 1, operator="ops", moment=world.moment()))
    world.tables.rows[job_id] = dict(world.tables.rows[job_id], next_check_at=seen.next_check_at)
    assert refused(world, job_id, deletion.retire(seen, world.moment()))
    assert world.job(job_id).generation == again.generation == 2


def test_no_beat_touches_a_message_that_has_a_timer_of_its_own(world: World) -> None:
    """Trap 11 of the design: the sibling's beat would overwrite the first record's bounce."""
    first = world.queued(b"first", "1")
    claim(world, first)
    world.queued(b"second", "2")
    beats: list[int] = []
    deliveries = world.work_queue.receive(5)

    def look() -> None:
        beats.append(world.work_queue.messages[deliveries[0].message_id].visible_at)

    world.renderer.behaviours[b"second"] = look
    assert outcomes(world.work_on(deliveries)) == [Outcome.BOUNCED, Outcome.SUCCEEDED]
    bounced_for = beats[0] - world.clock.now()
    assert bounced_for < (TIMINGS.lease_seconds + TIMINGS.skew_seconds + 2) * 1000
    assert world.work_queue.messages[deliveries[0].message_id].visible_at == beats[0]


def test_a_worker_that_lost_its_lease_while_rendering_puts_nothing() -> None:
    """S38 before the fence: it noticed, so it does not even try."""
    world = CrashWorld()
    job_id = world.queued(b"slow")

    def lose() -> None:
        world.clock.advance(DEAD_SECONDS)
        claim(world, job_id)
        world.pulse.beat()

    world.renderer.behaviours[b"slow"] = lose
    assert outcomes(world.work()) == [Outcome.LOST]
    assert not [key for key in world.objects.objects if key.startswith("thumbnails/")]


def test_an_error_of_ours_is_one_records_fault(world: World) -> None:
    world.queued(b"first", "1")
    world.queued(b"second", "2")

    def fail() -> None:
        raise KeyError("ours")

    world.renderer.behaviours[b"first"] = fail
    assert outcomes(world.work()) == [Outcome.BROKEN, Outcome.SUCCEEDED]


@contextmanager
def dying_before(world: World, operation: str) -> Iterator[None]:
    def die(event: str) -> None:
        if event == f"before {operation}":
            raise ProcessKilledError(operation)

    world.faults.watch = die
    with pytest.raises(ProcessKilledError):
        yield
    world.faults.watch = None


def test_an_undelivered_message_outlives_the_death_of_its_healer(world: World) -> None:
    """Deleted before the row's write, it would be lost with the pass."""
    job_id = lost_message(world)
    world.undelivered.put(OutgoingMessage(request_for(job_id)))
    with dying_before(world, "requeue"):
        world.reconcile()
    assert world.undelivered.messages


def test_an_undelivered_message_that_was_overtaken_is_left(world: World) -> None:
    """Whoever was faster may still die, and this message is then the job's only one."""
    job_id = lost_message(world)
    world.undelivered.put(OutgoingMessage(request_for(job_id)))

    def overtake(event: str) -> None:
        if event == "before requeue":
            world.faults.watch = None
            claim(world, job_id)

    world.faults.watch = overtake
    assert world.reconcile().counts[Healed.OVERTAKEN] == 1
    assert world.undelivered.messages


def lose_stream_record(world: World) -> None:
    number = world.tables.stream[-1].sequence_number
    info = {"streamArn": "a", "shardId": "s", "startSequenceNumber": number, "endSequenceNumber": number}
    world.relay_failures.put(OutgoingMessage(json.dumps({"DDBStreamBatchInfo": info})))


def test_a_lost_stream_record_outlives_the_death_of_its_healer(world: World) -> None:
    world.submit()
    lose_stream_record(world)
    with dying_before(world, "owe_again"):
        world.reconcile()
    assert world.relay_failures.messages


def test_a_lost_stream_record_of_a_live_attempt_is_left(world: World) -> None:
    """What the row owes is known when the attempt has ended."""
    job_id = world.submit().job_id
    lose_stream_record(world)
    claim(world, job_id)
    assert world.reconcile().counts[Healed.LEFT] == 1
    assert world.relay_failures.messages


def test_a_copy_outlives_the_death_of_its_operator(world: World) -> None:
    job_id = world.queued()
    for _ in range(TIMINGS.attempt_cap):
        claim(world, job_id)
        world.clock.advance(DEAD_SECONDS)
    world.clock.advance(720)
    world.work()
    world.relay()
    (copy,) = world.dead_letters.receive(10)
    redriver = world.redriver()
    with dying_before(world, "redrive"):
        redrive_copy(copy, redriver)
    assert world.dead_letters.messages


def test_a_pass_that_dies_between_row_and_send_leaves_a_nearer_check(world: World) -> None:
    """The row is taken first, so two passes at once send once, and a later check sends again."""
    job_id = lost_message(world)
    world.clock.advance(TIMINGS.queued_patience_seconds + 1)
    with dying_before(world, "work_queue.send"):
        world.reconcile()
    assert world.job(job_id).republish_count == 1
    assert not world.work_queue.messages
    world.clock.advance(2 * TIMINGS.queued_patience_seconds + 1)
    world.reconcile()
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]


def test_a_record_that_was_read_past_the_time_is_not_begun(world: World) -> None:
    job_id = world.queued()
    world.remaining_seconds = lambda: 24.0
    assert outcomes(world.work()) == [Outcome.UNSTARTED]
    assert world.job(job_id).fencing_token == 0


def test_an_index_that_lags_does_not_send_twice(world: World) -> None:
    """The row's own check is read before anything is done: the index still shows the old one."""
    world.tables = MemoryTables(world.faults, index=MemoryDueIndex(world.clock.now, lambda: 10_000))
    job_id = lost_message(world)
    world.clock.advance(TIMINGS.queued_patience_seconds + 11)
    assert world.reconcile().counts[Healed.REPUBLISHED] == 1
    world.work_queue.messages.clear()  # no backlog that would explain a wait
    assert world.reconcile().counts[Healed.REPUBLISHED] == 0
    assert world.job(job_id).republish_count == 1
