"""Bad days and bad input, each with its stated outcome; time is virtual."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tests.simulation.days import accept_many, statuses, work_for
from tests.world import World, lost_message, new_job, outcomes
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.errors import FailureCode, TransientError
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Status
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.transitions.attempt import claim, complete
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.reconcile.reconciler import Healed
from thumbline.service.redrive_job import Redriven, redrive_copy
from thumbline.service.worker import Outcome
from tools.chaos.universe import TIMINGS


def test_a_worker_that_is_slow_by_an_hour_changes_nothing() -> None:
    """Its lease is long over: the other one's result stands, and so do its bytes."""
    world = World()
    job_id = world.queued(b"slow")

    def sleep_for_an_hour() -> None:
        del world.renderer.behaviours[b"slow"]
        world.clock.advance(3_600)
        assert outcomes(world.work()) == [Outcome.SUCCEEDED]

    world.renderer.behaviours[b"slow"] = sleep_for_an_hour
    assert outcomes(world.work()) == [Outcome.FENCED]
    job = world.job(job_id)
    assert (job.status, job.fencing_token) == (Status.SUCCEEDED, 2)
    assert set(world.objects.objects) == {job.object_key, *(result.key for result in job.results.values())}


def test_a_poison_message_in_a_batch_of_good_ones_harms_no_sibling() -> None:
    world = World()
    accept_many(world, 4)
    world.send_to_work_queue("poison")
    assert Counter(outcomes(world.work())) == {Outcome.SUCCEEDED: 4, Outcome.REJECTED: 1}
    (copy,) = world.dead_letters.messages.values()
    assert copy.message.body == "poison"


def test_two_reconcilers_at_once_send_one_message() -> None:
    world = World()
    job_id = lost_message(world)
    world.clock.advance(TIMINGS.queued_patience_seconds + 1)

    def run_the_other(event: str) -> None:
        if event == "before republish":
            world.faults.watch = None
            assert world.reconcile().counts[Healed.REPUBLISHED] == 1

    world.faults.watch = run_the_other
    assert world.reconcile().counts[Healed.OVERTAKEN] == 1
    assert len(world.work_queue.messages) == 1
    assert world.job(job_id).republish_count == 1


def test_a_redrive_of_a_job_that_has_meanwhile_succeeded_is_refused() -> None:
    world = World()
    job_id = world.queued(b"bad")

    def crash() -> None:
        raise TransientError(FailureCode.RENDER_CRASHED, "died")

    world.renderer.behaviours[b"bad"] = crash
    for _ in range(TIMINGS.attempt_cap):
        world.work()
        world.clock.advance(900)
    world.relay()
    copies = [*world.dead_letters.receive(1)]
    redriver = world.redriver()
    del world.renderer.behaviours[b"bad"]
    assert redrive_copy(copies[0], redriver) is Redriven.REDRIVEN
    world.relay()
    world.work()
    before = world.tables.rows[job_id]
    assert before["status"] == "SUCCEEDED"
    world.dead_letters.send([_same(copies[0])])
    (stale,) = world.dead_letters.receive(1)
    assert redrive_copy(stale, redriver) is Redriven.STALE
    assert world.tables.rows[job_id] == before
    assert not world.dead_letters.messages


def _same(copy: ReceivedMessage) -> OutgoingMessage:
    return OutgoingMessage(copy.body, copy.attributes)


def test_to_50_000_queued_jobs_at_100_a_second_the_reconciler_adds_none() -> None:
    """A naive sweep would re-publish everything that has waited for 300 s: 20,000 duplicates."""
    world = World(timings=replace(TIMINGS, retention_days=0))
    jobs = 50_000
    for number in range(jobs):
        job = new_job(world)
        record = IdempotencyRecord(f"alice#{number}", "print", job.job_id, job.created_at // 1000 + 86_400)
        assert world.tables.accept(job, record) is None
        world.work_queue.put(OutgoingMessage(job.job_id))
    running: list[ReceivedMessage] = []
    passes = republished = 0
    while world.work_queue.messages:
        for delivery in running:
            token = world.tables.rows[delivery.body]["fencing_token"]
            world.tables.apply(delivery.body, complete(delivery.body, token, {}, world.moment()))
            world.work_queue.delete(delivery.receipt_handle)
        running = [delivery for _ in range(10) for delivery in world.work_queue.receive(10)]
        for delivery in running:
            world.tables.apply(delivery.body, claim(delivery.body, world.moment()))
        if (world.clock.now() // 1000) % 60 == 0:
            passes += 1
            republished += world.reconcile().counts[Healed.REPUBLISHED]
        world.clock.advance(1)
    assert passes >= 8
    assert republished == 0
    assert statuses(world) == {"SUCCEEDED": jobs}


def test_a_healthy_run_needs_no_rescue_and_loses_no_lease() -> None:
    """The counting rule: a reconciler must not hide a broken main path, so on a good day it does nothing."""
    world = World()
    counts: Counter[str] = Counter()
    for minute in range(30):
        for number in range(5):
            world.queued(f"{minute} {number}".encode(), f"{minute} {number}")
        counts += work_for(world, 60)
    assert counts == {Outcome.SUCCEEDED: 150}
    assert statuses(world) == {"SUCCEEDED": 150}
    assert not world.dead_letters.messages
    assert not world.undelivered.messages


def test_an_unheard_claim_costs_one_attempt_at_most() -> None:
    """I5: the worker does not know that it owns the job, and waits for its own lease to end."""
    world = World()
    job_id = world.queued()
    world.faults.plan("claim", Fault.ANSWER_LOST)
    assert outcomes(world.work()) == [Outcome.UNREADABLE]
    world.clock.advance(60)
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]
    assert world.job(job_id).attempts == 2
