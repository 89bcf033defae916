"""A day on the twins: jobs come in, workers poll, the reconciler runs; a dependency may be down."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.world import World
from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.faults import Faults
from thumbline.domain.errors import DependencyUnavailableError


class Outage(Faults):
    """One dependency refuses a share of its calls, from now on for a while."""

    def __init__(self, clock: ManualClock, dependency: str, seconds: int, share: float = 1.0) -> None:
        super().__init__()
        self._clock = clock
        self._dependency = dependency
        self._ends_at = clock.now() + seconds * 1000
        self._share = share
        self._chance = random.Random(1)

    @contextmanager
    def around(self, dependency: str, operation: str) -> Iterator[None]:
        down = dependency == self._dependency and self._clock.now() < self._ends_at
        if down and self._chance.random() < self._share:
            raise DependencyUnavailableError(dependency, f"{operation} was throttled")
        with super().around(dependency, operation):
            yield


def accept_many(world: World, jobs: int) -> list[str]:
    """Accepted on a good day, published, not yet worked on."""
    return [world.queued(f"picture {number}".encode(), f"key {number}") for number in range(jobs)]


def work_for(world: World, seconds: int, step_seconds: int = 10) -> Counter[str]:
    """What became of each delivery, and of each job and message that the reconciler met."""
    counts: Counter[str] = Counter()
    for second in range(0, seconds, step_seconds):
        while True:
            try:
                deliveries = world.work_queue.receive(5)
            except DependencyUnavailableError:
                break
            if not deliveries:
                break
            counts.update(line.outcome for line in world.work_on(deliveries).processed)
        if second % 60 == 0:
            counts.update(world.reconcile().counts)
        world.relay()
        world.clock.advance(step_seconds)
    return counts


def statuses(world: World) -> Counter[str]:
    return Counter(row["status"] for row in world.tables.rows.values())
