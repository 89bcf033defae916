"""One machine's clock is 30 s off, six times the skew: it costs work, and still one token completes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from tests.simulation.crash_world import HandPulse
from tests.world import World, outcomes, request_for
from thumbline.adapters.memory.clock import ManualClock
from thumbline.domain.messages import OutgoingMessage
from thumbline.service.accept_image import Submission, accept_image
from thumbline.service.process_batch import process_batch
from thumbline.service.reconcile.reconciler import Healed
from thumbline.service.reconcile.run_pass import run_pass
from thumbline.service.worker import Outcome, Worker

OFF_SECONDS = 30
PICTURE = b"slow"


@dataclass
class OffClock:
    """A machine whose clock is wrong."""

    clock: ManualClock
    seconds: int

    def now(self) -> int:
        return self.clock.now() + self.seconds * 1000


class OneJob(World):
    """A minute old, so that no clock takes it for one that is not available yet."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.job_id = self.queued(PICTURE)
        self.clock.advance(60)

    def worker_off_by(self, seconds: int) -> Worker:
        return replace(self.worker, clock=OffClock(self.clock, seconds), new_pulse=HandPulse)

    def process(self, worker: Worker) -> list[Outcome]:
        """One batch, acknowledged as Lambda would."""
        deliveries = self.work_queue.receive(1)
        report = process_batch(deliveries, worker, self.remaining_seconds)
        for delivery in deliveries:
            if delivery.message_id not in report.unacknowledged:
                self.work_queue.delete(delivery.receipt_handle)
        return outcomes(report)

    def meanwhile(self, event: Callable[[], None]) -> None:
        """Happens once, while the picture is rendered."""

        def happen() -> None:
            del self.renderer.behaviours[PICTURE]
            event()

        self.renderer.behaviours[PICTURE] = happen

    def finish(self) -> list[Outcome]:
        """What becomes of all that is still in the queues; at the end nothing is."""
        self.clock.advance(3_600)
        self.relay()
        ends: list[Outcome] = []
        while self.work_queue.messages:
            ends += self.process(self.worker_off_by(0))
        assert not self.undelivered.messages
        assert not self.dead_letters.messages
        return ends


def assert_one_token_completed(world: World, job_id: str, token: int, renderings: int) -> None:
    """One write to SUCCEEDED, by the row's own token; its results are what was asked for, and are right."""
    completions = [
        record.old
        for record in world.tables.stream
        if record.new is not None and record.new["status"] == "SUCCEEDED"
    ]
    assert [None if old is None else (old["status"], old["fencing_token"]) for old in completions] == [
        ("RUNNING", token)
    ]
    job = world.job(job_id)
    assert (job.status.value, job.fencing_token, job.attempts) == ("SUCCEEDED", token, token)
    assert list(job.results) == [preset.name for preset in job.presets]
    assert set(world.objects.objects) == {job.object_key, *(result.key for result in job.results.values())}
    for result in job.results.values():
        assert hashlib.sha256(world.objects.objects[result.key].data).hexdigest() == result.sha256
    assert len(world.renderer.rendered) == renderings


@dataclass(frozen=True)
class Meeting:
    """Two workers meet on one job, the second ten seconds after the first; one of them is wrong."""

    first_off: int
    second_off: int
    first: Outcome
    second: Outcome
    token: int
    """The completing one."""


MEETINGS = {
    "the second is fast and takes a live lease for dead": Meeting(
        0, OFF_SECONDS, Outcome.FENCED, Outcome.SUCCEEDED, token=2
    ),
    "the second is slow and bounces": Meeting(0, -OFF_SECONDS, Outcome.SUCCEEDED, Outcome.BOUNCED, token=1),
    "the first is fast, and its lease long": Meeting(
        OFF_SECONDS, 0, Outcome.SUCCEEDED, Outcome.BOUNCED, token=1
    ),
    "the first is slow, and its lease over at once": Meeting(
        -OFF_SECONDS, 0, Outcome.FENCED, Outcome.SUCCEEDED, token=2
    ),
}


@pytest.mark.parametrize("meeting", MEETINGS.values(), ids=MEETINGS)
def test_a_clock_that_is_off_by_30_seconds_costs_work_and_nothing_else(meeting: Meeting) -> None:
    """Beyond the skew a lease can be misjudged: perhaps two renderings, but one token completes."""
    world = OneJob()
    seconds: list[Outcome] = []

    def meet_the_other() -> None:
        world.clock.advance(10)
        world.send_to_work_queue(request_for(world.job_id))
        seconds.extend(world.process(world.worker_off_by(meeting.second_off)))

    world.meanwhile(meet_the_other)
    assert world.process(world.worker_off_by(meeting.first_off)) == [meeting.first]
    assert seconds == [meeting.second]
    assert set(world.finish()) <= {Outcome.SKIPPED}
    assert_one_token_completed(world, world.job_id, meeting.token, renderings=meeting.token)


@pytest.mark.parametrize(("first_off", "second_off"), [(0, OFF_SECONDS), (-OFF_SECONDS, 0)])
def test_the_worker_that_lost_its_lease_to_a_wrong_clock_ends_first_and_writes_nothing(
    first_off: int, second_off: int
) -> None:
    """The other one is still at it: only the token tells them apart."""
    world = OneJob()
    ends: dict[str, list[Outcome]] = {}
    first_works, second_works = threading.Event(), threading.Event()

    def process_first() -> None:
        try:
            ends["first"] = world.process(world.worker_off_by(first_off))
        finally:
            first_works.set()

    def wait_for_the_second() -> None:
        world.meanwhile(let_the_first_end)
        first_works.set()
        second_works.wait()

    def let_the_first_end() -> None:
        second_works.set()
        first.join()
        assert ends == {"first": [Outcome.LOST]}

    world.meanwhile(wait_for_the_second)
    first = threading.Thread(target=process_first, daemon=True)
    first.start()
    first_works.wait()
    world.clock.advance(10)
    world.send_to_work_queue(request_for(world.job_id))
    ends["second"] = world.process(world.worker_off_by(second_off))

    assert ends == {"first": [Outcome.LOST], "second": [Outcome.SUCCEEDED]}
    assert world.finish() == [Outcome.SKIPPED]
    assert_one_token_completed(world, world.job_id, token=2, renderings=2)


@pytest.mark.parametrize(
    ("seconds_off", "healed", "worker", "token"),
    [(OFF_SECONDS, Healed.REQUEUED, Outcome.LOST, 2), (-OFF_SECONDS, Healed.LEFT, Outcome.SUCCEEDED, 1)],
    ids=["fast", "slow"],
)
def test_a_reconciler_whose_clock_is_wrong_costs_an_attempt_and_nothing_else(
    seconds_off: int, healed: Healed, worker: Outcome, token: int
) -> None:
    """A fast one takes an undelivered message's live attempt for dead; its worker writes nothing more."""
    world = OneJob()
    wrong = replace(world.reconciler, clock=OffClock(world.clock, seconds_off))
    counts = []

    def reconcile() -> None:
        world.clock.advance(10)
        world.undelivered.put(OutgoingMessage(request_for(world.job_id)))
        counts.append(run_pass(wrong, world.remaining_seconds).counts)

    world.meanwhile(reconcile)
    assert world.process(world.worker_off_by(0)) == [worker]
    assert counts[0][healed] == 1
    world.clock.advance(60)
    late = world.reconcile()
    assert late.counts[Healed.DROPPED] == (healed is Healed.LEFT)
    world.finish()
    assert_one_token_completed(world, world.job_id, token, renderings=token)


@pytest.mark.parametrize("seconds_off", [OFF_SECONDS, -OFF_SECONDS], ids=["fast", "slow"])
def test_a_reconciler_whose_clock_is_wrong_finds_a_lost_message_earlier_or_later(seconds_off: int) -> None:
    """The patience with a QUEUED job, misjudged by as much; the message is sent once."""
    world = OneJob()
    world.work_queue.messages.clear()
    wrong = replace(world.reconciler, clock=OffClock(world.clock, seconds_off))
    lost_after = world.timings.queued_patience_seconds - seconds_off
    world.clock.advance(lost_after - 60 - 1)
    assert run_pass(wrong, world.remaining_seconds).counts[Healed.REPUBLISHED] == 0
    world.clock.advance(1)
    assert run_pass(wrong, world.remaining_seconds).counts[Healed.REPUBLISHED] == 1
    assert run_pass(wrong, world.remaining_seconds).counts[Healed.REPUBLISHED] == 0
    assert world.process(world.worker_off_by(0)) == [Outcome.SUCCEEDED]
    assert world.finish() == []
    assert_one_token_completed(world, world.job_id, token=1, renderings=1)


@pytest.mark.parametrize("seconds_off", [OFF_SECONDS, -OFF_SECONDS], ids=["fast", "slow"])
def test_an_ingest_whose_clock_is_wrong_shifts_a_job_by_that_much_and_nothing_else(seconds_off: int) -> None:
    """A fast one's job is not available for 30 s; another machine still knows the key."""
    world = World()
    accepted_at = world.clock.now()
    picture = Submission(
        owner="alice", idempotency_key="key-1", content_type="image/jpeg", body=PICTURE, presets=()
    )
    wrong = replace(world.acceptance, clock=OffClock(world.clock, seconds_off))
    job_id = accept_image(picture, wrong).job_id
    replayed = accept_image(picture, world.acceptance)
    assert (replayed.job_id, replayed.replayed) == (job_id, True)
    world.relay()
    world.send_to_work_queue(request_for(job_id))
    fast = seconds_off > 0
    assert outcomes(world.work()) == ([Outcome.BOUNCED] if fast else [Outcome.SUCCEEDED, Outcome.SKIPPED])
    world.clock.advance(OFF_SECONDS + 3)
    assert outcomes(world.work()) == ([Outcome.SUCCEEDED, Outcome.SKIPPED] if fast else [])
    job = world.job(job_id)
    assert job.deadline_at == accepted_at + (world.timings.deadline_seconds + seconds_off) * 1000
    assert_one_token_completed(world, job_id, token=1, renderings=1)
