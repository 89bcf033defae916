"""Virtual time, and actors that take turns.

Each actor is ordinary blocking code on a thread of its own, but only the holder of the baton runs. It gives
the baton away where it sleeps, and it sleeps at every call of a twin, so the order of the wake-up times is
the interleaving, and the seed that draws those times replays it exactly.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn


class ProcessKilledError(BaseException):
    """The process of this actor is gone: nothing of it has an effect any more. Not for `except Exception`."""


class SimulationOverError(BaseException):
    """The simulation has ended; the actor's thread is to unwind."""


@dataclass(slots=True, eq=False)
class Process:
    """What dies, freezes and misreads the time as one: an invocation with all its threads."""

    role: str
    clock_offset_ms: int = 0
    ends_at: int | None = None
    """The function's time-out, virtual epoch milliseconds."""
    calls_left: int | None = None
    """It is killed after so many more halves of calls (before and after an effect); None is never."""
    frozen_until: int = 0
    dead: bool = False
    struck: bool = False
    """A fault has met it: a call was refused, an answer lost, or it froze."""

    def is_well(self, now: int) -> bool:
        """It could have done everything that a live process does."""
        return not (self.dead or self.struck) and (self.ends_at is None or now < self.ends_at)

    def check(self, now: int) -> None:
        """Raises ProcessKilledError."""
        if self.dead or (self.ends_at is not None and now >= self.ends_at):
            self.dead = True
            raise ProcessKilledError(self.role)


def _closed_gate() -> threading.Lock:
    """A lock as a gate that lets one thread through each time it is released; cheaper than a semaphore."""
    gate = threading.Lock()
    gate.acquire()
    return gate


class Actor:
    """A thread that waits for its turn."""

    def __init__(self, scheduler: Scheduler, action: Callable[[], None], process: Process | None) -> None:
        self.process = process
        self._turn = _closed_gate()
        self._scheduler = scheduler
        self._action = action
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._started = False

    def give_turn(self) -> None:
        if self._started:
            self._turn.release()
        else:
            self._started = True
            self._thread.start()

    def wait_for_turn(self) -> None:
        self._turn.acquire()

    def end(self) -> None:
        """Wakes it up one last time; only after the simulation is over."""
        if self._started:
            self._turn.release()
            self._thread.join()

    def _run(self) -> None:
        try:
            self._action()
        except ProcessKilledError:
            pass
        except SimulationOverError:
            return
        except BaseException as error:
            self._scheduler.fail(error)
            return
        self._scheduler.finish(self)


class Scheduler:
    """`now` is virtual, epoch milliseconds."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.current: Actor | None = None
        self._events: list[tuple[int, int, Actor | Callable[[], None]]] = []
        self._order = itertools.count()
        self._actors: set[Actor] = set()
        self._ended = threading.Event()
        self._over = False
        self._error: BaseException | None = None

    @property
    def process(self) -> Process | None:
        return None if self.current is None else self.current.process

    def spawn(
        self, action: Callable[[], None], *, process: Process | None = None, after_ms: int = 0
    ) -> Actor:
        actor = Actor(self, action, process)
        self._actors.add(actor)
        self._push(self.now + after_ms, actor)
        return actor

    def call_at(self, when: int, action: Callable[[], None]) -> None:
        """`action` runs between turns and must not sleep."""
        self._push(when, action)

    def run(self) -> None:
        """Until `stop`, or until nothing is left to do. Raises what an actor raised."""
        self._pass_on(None)
        self._ended.wait()
        self._over = True
        for actor in self._actors:
            actor.end()
        if self._error is not None:
            raise self._error

    def stop(self) -> NoReturn:
        """Called by an actor: ends the simulation, and the actor with it."""
        self._over = True
        self._ended.set()
        raise SimulationOverError

    def sleep(self, milliseconds: float) -> None:
        """Raises ProcessKilledError where the actor's process does not live to see the end of it."""
        actor = self._running()
        process = actor.process
        until = self.now + int(milliseconds)
        while True:
            if process is not None and process.ends_at is not None:
                until = min(until, process.ends_at)
            self._push(until, actor)
            self._pass_on(actor)
            if process is None:
                return
            process.check(self.now)
            if process.frozen_until <= self.now:
                return
            until = process.frozen_until

    def leap(self, milliseconds: int) -> None:
        """Time jumps and everybody else sleeps through it: for the days in which nothing happens."""
        self.now += milliseconds
        for process in {actor.process for actor in self._actors if actor.process is not None}:
            if process.ends_at is not None:
                process.ends_at += milliseconds
        self._events = [(when + milliseconds, order, event) for when, order, event in self._events]

    def park(self) -> None:
        """Gives the baton away until someone calls `unpark`. Raises ProcessKilledError."""
        actor = self._running()
        self._pass_on(actor)
        if actor.process is not None:
            actor.process.check(self.now)

    def unpark(self, actor: Actor) -> None:
        self._push(self.now, actor)

    def finish(self, actor: Actor) -> None:
        """The actor's action has returned; its thread ends."""
        self._actors.discard(actor)
        self._pass_on(None)

    def fail(self, error: BaseException) -> None:
        self._error = error
        self._over = True
        self._ended.set()

    def _running(self) -> Actor:
        if self._over:
            raise SimulationOverError
        assert self.current is not None
        return self.current

    def _push(self, when: int, event: Actor | Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(when, self.now), next(self._order), event))

    def _pass_on(self, me: Actor | None) -> None:
        """Runs events until it is someone's turn; returns when it is mine again."""
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            if not isinstance(event, Actor):
                self.current = None
                event()
                continue
            self.current = event
            if event is me:
                return
            event.give_turn()
            break
        else:
            self._ended.set()
        if me is not None:
            me.wait_for_turn()
            if self._over:
                raise SimulationOverError
