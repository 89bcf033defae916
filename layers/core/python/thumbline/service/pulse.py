"""What makes a batch's heart beat: a thread in Lambda, the scheduler's virtual time in a simulation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Pulse(Protocol):
    """One batch's beats. `lock` keeps them and the batch's own work apart."""

    @property
    def lock(self) -> AbstractContextManager[object]: ...

    def start(self, beat: Callable[[], None], every_seconds: float) -> None: ...

    def stop(self) -> None:
        """When this returns, no beat runs and none will."""
        ...


def keep_beating(
    beat: Callable[[], None],
    every_seconds: float,
    is_over_after: Callable[[float], bool],
    monotonic: Callable[[], float],
) -> None:
    """Beats begin `every_seconds` apart, however long each takes: a slow one must not delay the next.

    `is_over_after` waits so many seconds and says whether the batch ended meanwhile.
    """
    pause_seconds = every_seconds
    while not is_over_after(pause_seconds):
        began = monotonic()
        beat()
        pause_seconds = max(0.0, every_seconds - (monotonic() - began))


class ThreadPulse:
    """Joined when stopped: Lambda would freeze the thread and thaw it in the next invocation."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, beat: Callable[[], None], every_seconds: float) -> None:
        def run() -> None:
            keep_beating(beat, every_seconds, self._stopping.wait, time.monotonic)

        self._thread = threading.Thread(target=run, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
