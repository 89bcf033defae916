"""What the lesson warns of, done wrongly on purpose, beside the same accident done right."""

from __future__ import annotations

import pytest

from tests.api import Api
from tests.simulation.crash_world import CrashWorld
from tests.world import World, outcomes
from thumbline.adapters.memory.faults import Fault
from thumbline.domain.job import Status
from thumbline.domain.transitions.attempt import claim, complete
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.worker import Outcome
from tools.chaos.scheduler import ProcessKilledError
from tools.chaos.universe import TIMINGS

DEAD_SECONDS = TIMINGS.lease_seconds + TIMINGS.skew_seconds + 1


def status_of(api: Api, job_id: str) -> str:
    """As its client sees it."""
    document = api.call("GET", f"/jobs/{job_id}").document
    assert ("result" in document) is (document["status"] == "SUCCEEDED")
    return str(document["status"])


def test_a_message_that_is_gone_is_no_success() -> None:
    """S23: a worker acknowledges although its last write was lost. Only the row tells, and it says so."""
    api = Api()
    world = api.world
    job_id = api.post().document["job_id"]
    world.relay()
    (delivery,) = world.work_queue.receive(1)
    world.faults.plan("complete", Fault.REFUSED)
    world.work_on([delivery])
    world.work_queue.delete(delivery.receipt_handle)

    assert not world.work_queue.messages
    assert status_of(api, job_id) == "RUNNING"
    world.clock.advance(DEAD_SECONDS + TIMINGS.rescue_patience_seconds)
    world.reconcile()
    world.work()
    assert status_of(api, job_id) == "SUCCEEDED"


class Marking:
    """A worker as the lesson warns of it: a table of its own remembers whose message it has seen.

    `first` commits the mark before the work; otherwise it stands in the row, in the write that completes it.
    """

    def __init__(self, world: World, job_id: str, *, first: bool) -> None:
        self._world = world
        self._job_id = job_id
        self._first = first
        self._marks: set[str] = set()

    def process(self, delivery: ReceivedMessage, *, dies: bool) -> None:
        world = self._world
        if self._job_id not in self._marks and world.job(self._job_id).is_open:
            if self._first:
                self._marks.add(self._job_id)
            if dies:
                raise ProcessKilledError("before the work")
            token = world.tables.apply(self._job_id, claim(self._job_id, world.moment())).fencing_token
            world.tables.apply(self._job_id, complete(self._job_id, token, {}, world.moment()))
        world.work_queue.delete(delivery.receipt_handle)


@pytest.mark.parametrize(
    ("marks_first", "ends_as"), [(True, Status.QUEUED), (False, Status.SUCCEEDED)], ids=["first", "together"]
)
def test_a_mark_that_is_committed_before_the_work_loses_the_job(marks_first: bool, ends_as: Status) -> None:
    """S69: one crash after the mark; the redelivery finds it, does nothing and acknowledges."""
    world = World()
    job_id = world.queued()
    worker = Marking(world, job_id, first=marks_first)
    with pytest.raises(ProcessKilledError):
        worker.process(world.work_queue.receive(1)[0], dies=True)
    world.clock.advance(720)
    worker.process(world.work_queue.receive(1)[0], dies=False)

    assert not world.work_queue.messages
    world.clock.advance(TIMINGS.deadline_seconds - 721)
    assert not world.work().processed
    assert world.job(job_id).status is ends_as


@pytest.mark.parametrize(
    ("healer", "first_polls", "last_polls"),
    [
        ("nobody", "QUEUED", "QUEUED"),
        ("outbox", "SUCCEEDED", "SUCCEEDED"),
        ("reconciler", "QUEUED", "SUCCEEDED"),
    ],
)
def test_a_job_whose_publisher_died_is_polled_for_ever_unless_somebody_publishes(
    healer: str, first_polls: str, last_polls: str
) -> None:
    """S127: the process that would publish after its commit is killed in between. A day of polls."""
    api = Api()
    world = api.world
    job_id = api.post().document["job_id"]
    if healer != "outbox":
        world.tables.stream.clear()  # nobody but the dead process knew that a publish was owed
    polls = []
    for _ in range(TIMINGS.deadline_seconds // 600):
        world.relay()
        if healer == "reconciler":
            world.reconcile()
        world.work()
        polls.append(status_of(api, job_id))
        world.clock.advance(600)

    assert (polls[0], set(polls[1:])) == (first_polls, {last_polls})


@pytest.mark.parametrize(
    ("beats", "first", "second"),
    [(True, Outcome.SUCCEEDED, []), (False, Outcome.FENCED, [Outcome.SUCCEEDED])],
    ids=["with a heartbeat", "without"],
)
def test_work_longer_than_its_lease_is_done_once_with_a_heartbeat(
    beats: bool, first: Outcome, second: list[Outcome]
) -> None:
    """S123, S149: 90 s of work under a lease of 30 s, and another worker that asks every five seconds."""
    world = CrashWorld()
    job_id = world.queued(b"slow")
    others: list[Outcome] = []

    def work_slowly() -> None:
        pulse = world.pulse
        del world.renderer.behaviours[b"slow"]
        for second_of_work in range(5, 95, 5):
            world.clock.advance(5)
            if beats and second_of_work % TIMINGS.heartbeat_seconds == 0:
                pulse.beat()
            if beats:
                assert world.job(job_id).has_live_lease(world.clock.now(), skew_seconds=0)
            others.extend(outcomes(world.work()))

    world.renderer.behaviours[b"slow"] = work_slowly
    assert outcomes(world.work()) == [first]
    assert others == second
    job = world.job(job_id)
    assert (job.status, job.attempts) == (Status.SUCCEEDED, 1 + len(second))
    assert not world.work_queue.messages
