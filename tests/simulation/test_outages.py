"""A dependency is down or throttles: jobs wait, nobody is bothered, and all succeed when it is back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.api import Api
from tests.simulation.crash_world import CrashWorld
from tests.simulation.days import Outage, accept_many, statuses, work_for
from tests.world import outcomes
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.domain.errors import FailureCode, TransientError
from thumbline.domain.messages import OutgoingMessage
from thumbline.service.reconcile.reconciler import Healed
from thumbline.service.worker import Outcome
from tools.chaos.universe import TIMINGS

JOBS = 20


@dataclass(slots=True)
class RememberingQueue(MemoryQueue):
    """Knows every message that was ever in it: the reconciler takes them out again."""

    ever: list[str] = field(default_factory=list)

    def put(self, message: OutgoingMessage) -> None:
        self.ever.append(message.body)
        MemoryQueue.put(self, message)


class Day(CrashWorld):
    """Twenty jobs are queued. Its heart beats by hand."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gave_up = RememberingQueue(self.clock, "undelivered", faults=self.faults)
        self.undelivered = self.work_queue.redrive_target = self.gave_up
        accept_many(self, JOBS)

    def throttle(self, seconds: int) -> None:
        """DynamoDB refuses every call from now on."""
        self.tables._faults = Outage(self.clock, "dynamodb", seconds)


def assert_nobody_was_bothered(day: Day, counts: Counter[str]) -> None:
    """No job failed, SQS gave up on no message, and so the reconciler had none to requeue."""
    assert statuses(day) == {"SUCCEEDED": JOBS}
    assert not day.dead_letters.messages
    assert not day.gave_up.ever
    assert counts[Healed.REQUEUED] == 0
    assert not day.work_queue.messages


def attempts(day: Day) -> Counter[int]:
    return Counter(row["attempts"] for row in day.tables.rows.values())


def test_dynamodb_throttles_for_ten_minutes_and_no_job_fails() -> None:
    """They wait, growing longer, without spending attempts; then all succeed and nobody is bothered."""
    day = Day()
    day.throttle(600)
    counts = work_for(day, 600)
    assert counts[Outcome.UNREADABLE] > JOBS
    assert statuses(day) == {"QUEUED": JOBS}
    assert len(day.work_queue.messages) == JOBS
    counts += work_for(day, 1_800)
    assert attempts(day) == {1: JOBS}
    assert_nobody_was_bothered(day, counts)


def crash() -> None:
    raise TransientError(FailureCode.RENDER_CRASHED, "the decoder crashed")


@pytest.mark.parametrize(
    "ends", [lambda: None, crash], ids=["the completion is refused", "the release is refused"]
)
def test_dynamodb_throttles_from_the_middle_of_an_attempt_on(ends: Callable[[], None]) -> None:
    """That attempt's last write is refused: its lease ends, and another attempt does the work again."""
    day = Day()

    def begin_and_end() -> None:
        del day.renderer.behaviours[b"picture 0"]
        day.throttle(600)
        ends()

    day.renderer.behaviours[b"picture 0"] = begin_and_end
    counts = work_for(day, 600)
    assert statuses(day) == {"RUNNING": 1, "QUEUED": JOBS - 1}
    assert len(day.work_queue.messages) == JOBS
    assert counts[Outcome.SUCCEEDED] == counts[Outcome.RELEASED] == 0
    counts += work_for(day, 1_800)
    assert attempts(day) == {1: JOBS - 1, 2: 1}
    assert_nobody_was_bothered(day, counts)


@pytest.mark.parametrize("beats", [2, 6], ids=["shorter than the lease", "longer than the lease"])
def test_dynamodb_throttles_heartbeats_and_the_attempt_goes_on(beats: int) -> None:
    """Nobody else can claim what the table cannot be asked for, so even a dead lease is still its own."""
    day = Day()

    def beat_in_vain() -> None:
        del day.renderer.behaviours[b"picture 0"]
        day.throttle(beats * TIMINGS.heartbeat_seconds)
        for _ in range(beats):
            day.pulse.beat()
            day.clock.advance(TIMINGS.heartbeat_seconds)

    day.renderer.behaviours[b"picture 0"] = beat_in_vain
    counts = work_for(day, 600)
    assert counts == {Outcome.SUCCEEDED: JOBS}
    assert attempts(day) == {1: JOBS}
    assert_nobody_was_bothered(day, counts)


def test_s3_answers_503_to_half_the_calls_and_no_job_fails() -> None:
    """Each attempt that met it is given back."""
    day = Day()
    day.objects.faults = Outage(day.clock, "s3", seconds=3_600, share=0.5)
    counts = work_for(day, 3_600)
    assert counts[Outcome.RELEASED] > 0
    assert attempts(day) == {1: JOBS}
    assert_nobody_was_bothered(day, counts)


def test_the_queue_is_unreachable_when_clients_post() -> None:
    """S2: through the handler, still 202; the job runs when the queue is back, without anybody's help."""
    world = CrashWorld()
    api = Api(world=world)
    world.work_queue.faults = Outage(world.clock, "sqs", seconds=300)

    accepted = api.post()

    assert accepted.status == 202
    assert accepted.document["status"] == "QUEUED"
    job = accepted.headers["Location"].removeprefix("/v1")
    assert world.relay().failed
    assert api.call("GET", job).document["status"] == "QUEUED"
    assert not world.work_queue.messages
    world.clock.advance(301)
    assert world.relay().published == 1
    assert outcomes(world.work()) == [Outcome.SUCCEEDED]
    assert api.call("GET", job).document["status"] == "SUCCEEDED"
