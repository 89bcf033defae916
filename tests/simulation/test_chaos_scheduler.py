"""Virtual time and the actors that take turns in it."""

from __future__ import annotations

import pytest

from tools.chaos.scheduler import Process, ProcessKilledError, Scheduler
from tools.chaos.threads import VirtualLock


def test_actors_wake_in_the_order_of_their_times() -> None:
    scheduler = Scheduler(0)
    seen: list[tuple[str, int]] = []

    def actor(name: str, *sleeps: int) -> None:
        for milliseconds in sleeps:
            scheduler.sleep(milliseconds)
            seen.append((name, scheduler.now))

    scheduler.spawn(lambda: actor("a", 10, 10))
    scheduler.spawn(lambda: actor("b", 5, 10))
    scheduler.run()
    assert seen == [("b", 5), ("a", 10), ("b", 15), ("a", 20)]


def test_a_process_ends_with_its_time() -> None:
    scheduler = Scheduler(0)
    ended: list[int] = []

    def actor() -> None:
        try:
            scheduler.sleep(100)
        except ProcessKilledError:
            ended.append(scheduler.now)
            raise

    scheduler.spawn(actor, process=Process("worker", ends_at=30))
    scheduler.run()
    assert ended == [30]


def test_a_frozen_process_wakes_late() -> None:
    scheduler = Scheduler(0)
    process = Process("worker", frozen_until=500)
    woken: list[int] = []

    def actor() -> None:
        scheduler.sleep(10)
        woken.append(scheduler.now)

    scheduler.spawn(actor, process=process)
    scheduler.run()
    assert woken == [500]


def test_a_virtual_lock_lets_one_in_at_a_time() -> None:
    scheduler = Scheduler(0)
    lock = VirtualLock(scheduler)
    seen: list[int] = []

    def actor() -> None:
        with lock:
            scheduler.sleep(10)
            seen.append(scheduler.now)

    for _ in range(3):
        scheduler.spawn(actor)
    scheduler.run()
    assert seen == [10, 20, 30]


def test_what_an_actor_raises_is_raised() -> None:
    scheduler = Scheduler(0)

    def fail() -> None:
        raise KeyError("actor")

    scheduler.spawn(fail)
    scheduler.spawn(lambda: scheduler.sleep(1_000))
    with pytest.raises(KeyError, match="actor"):
        scheduler.run()


def test_a_leap_takes_no_time_from_a_process_that_sleeps_through_it() -> None:
    scheduler = Scheduler(0)
    ended: list[int] = []

    def passes() -> None:
        scheduler.sleep(20)
        ended.append(scheduler.now)

    def leaper() -> None:
        scheduler.sleep(10)
        scheduler.leap(1_000)

    scheduler.spawn(passes, process=Process("reconciler", ends_at=30))
    scheduler.spawn(leaper)
    scheduler.run()
    assert ended == [1_020]
