"""Kills at named points, without a hook in the code that is killed.

The function's processes are stopped, the row and the bucket are looked at, and then they are either killed or
run on for a few milliseconds until they are stopped again. What stands still cannot leave the point between
the look and the kill, so a name is never a guess.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from thumbline.domain.errors import DependencyUnavailableError
from tools.chaos_local.freezing import frozen, kill_all
from tools.chaos_local.view import RECONCILER, RELAY, WORKER, Place, View
from tools.soak.background import Background

_SLICE_SECONDS = 0.005
"""Less than the shortest of the worker's calls, so that no two of its effects fall between two looks."""
_SETTLING_SECONDS = 0.02
"""A call that was under way when its caller was stopped ends in this time."""
_MAX_SLICES = 400
_PATIENCE_SECONDS = 20.0
_WORK_PATIENCE_SECONDS = 300.0
"""Longer than the local queue's visibility timeout: after a kill there may be no work until then."""
_IDLE_SECONDS = 0.05


class Point(StrEnum):
    """Where a process dies, in the order in which a job comes by."""

    BEFORE_PUBLISH = "relay before its publish"
    AFTER_CLAIM = "worker after its claim"
    AFTER_PUT = "worker after its put"
    BEFORE_ACK = "worker before its ack"
    IN_A_PASS = "reconciler in its pass"


_PLACES = {
    Point.AFTER_CLAIM: Place.CLAIMED,
    Point.AFTER_PUT: Place.PUT,
    Point.BEFORE_ACK: Place.RECORDED,
}


class Hunter(Background):
    """A thread that goes through all points, `rounds` times, or until its block ends."""

    def __init__(self, view: View, *, rounds: int, seed: int) -> None:
        super().__init__("hunter")
        self._view = view
        self._rounds = rounds
        self._chance = random.Random(seed)
        self.hits: Counter[Point] = Counter()
        """How often a point was reached."""
        self.kills = 0
        """How many processes that killed."""

    def _work(self) -> None:
        for _ in range(self._rounds):
            for point in Point:
                if self._done.is_set():
                    return
                # An emulator that is too busy to be asked is a missed chance, no more.
                with contextlib.suppress(DependencyUnavailableError):
                    self._hunt(point)

    def _hunt(self, point: Point) -> None:
        match point:
            case Point.BEFORE_PUBLISH:
                killed = self._hunt_relay()
            case Point.IN_A_PASS:
                killed = self._hunt_reconciler()
            case _:
                killed = self._hunt_worker(_PLACES[point])
        if killed:
            self.hits[point] += 1
            self.kills += killed

    def _hunt_worker(self, wanted: Place) -> int:
        deadline = time.monotonic() + _WORK_PATIENCE_SECONDS
        while not self._over(deadline):
            if self._view.is_warm(WORKER):
                for job_id in self._view.first_attempts()[:1]:
                    if killed := self._step(job_id, wanted):
                        return killed
            self._done.wait(_IDLE_SECONDS)
        return 0

    def _step(self, job_id: str, wanted: Place) -> int:
        """Lets the workers go on by slices until the job's attempt is at the place, or past it."""
        for _ in range(_MAX_SLICES):
            workers = self._view.processes(WORKER)
            with frozen(workers):
                time.sleep(_SETTLING_SECONDS)
                place = self._view.place_of(job_id)
                if place is wanted and (wanted is not Place.RECORDED or self._view.messages_in_flight()):
                    return kill_all(workers)
            if place.value >= wanted.value or self._done.is_set():
                return 0
            time.sleep(_SLICE_SECONDS)
        return 0

    def _hunt_relay(self) -> int:
        """Stops the relay, waits for a row that only it would publish, and ends it with that undone."""
        relays = self._view.wait_for_processes(RELAY, _PATIENCE_SECONDS)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        with frozen(relays):
            since = self._view.now()
            return kill_all(relays) if self._seen(self._accepted_since(since), deadline) else 0

    def _accepted_since(self, moment: int) -> Callable[[], bool]:
        return lambda: any(True for _ in self._view.accepted_since(moment))

    def _hunt_reconciler(self) -> int:
        """Starts a pass and ends its process before it has written what it knows."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        if not self._view.processes(RECONCILER):
            self._view.invoke_reconciler()
            self._view.wait_for_processes(RECONCILER, _PATIENCE_SECONDS)
        while not self._over(deadline):
            before = self._view.last_pass_at()
            self._view.invoke_reconciler()
            time.sleep(self._chance.uniform(0, 0.2))
            reconcilers = self._view.processes(RECONCILER)
            with frozen(reconcilers):
                if reconcilers and self._view.last_pass_at() == before:
                    return kill_all(reconcilers)
        return 0

    def _seen(self, condition: Callable[[], bool], deadline: float) -> bool:
        while not self._over(deadline):
            if condition():
                return True
            self._done.wait(_IDLE_SECONDS)
        return False

    def _over(self, deadline: float) -> bool:
        return self._done.is_set() or time.monotonic() >= deadline
