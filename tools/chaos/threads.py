"""The threads of one simulated process: its lock, and the pulse that drives the real heartbeat."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from tools.chaos.scheduler import Actor, Process, ProcessKilledError, Scheduler


class VirtualLock:
    """A mutex whose waiters wait in virtual time."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._held = False
        self._waiting: list[Actor] = []

    def __enter__(self) -> None:
        while self._held:
            assert self._scheduler.current is not None
            self._waiting.append(self._scheduler.current)
            self._scheduler.park()
        self._held = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held = False
        if self._waiting:
            self._scheduler.unpark(self._waiting.pop(0))


class VirtualPulse:
    """Beats as actors of the worker's own process, so that they freeze and die with it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.lock = VirtualLock(scheduler)
        self._scheduler = scheduler
        self._process: Process | None = None
        self._beating = False
        self._stopped = False
        self._joining: Actor | None = None

    def start(self, beat: Callable[[], None], every_seconds: float) -> None:
        self._process = self._scheduler.process
        self._beat_in(beat, round(every_seconds * 1000))

    def stop(self) -> None:
        self._stopped = True
        if self._beating:
            self._joining = self._scheduler.current
            self._scheduler.park()

    def _beat_in(self, beat: Callable[[], None], period_ms: int) -> None:
        def fire() -> None:
            if self._stopped or (self._process is not None and self._process.dead):
                return
            self._beating = True
            self._scheduler.spawn(lambda: self._run(beat, period_ms), process=self._process)

        frozen_until = 0 if self._process is None else self._process.frozen_until
        self._scheduler.call_at(max(self._scheduler.now + period_ms, frozen_until), fire)

    def _run(self, beat: Callable[[], None], period_ms: int) -> None:
        try:
            if self._process is not None:
                self._process.check(self._scheduler.now)
            beat()
            self._beat_in(beat, period_ms)
        except ProcessKilledError:
            self._stopped = True
        finally:
            self._beating = False
            if self._joining is not None:
                self._scheduler.unpark(self._joining)
