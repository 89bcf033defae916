"""Work beside a run, in a thread that lives as long as its block."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Background(ABC):
    """Starts with its block and is told to stop at its end. What the thread raised is raised there: a run
    whose other half died in silence would prove nothing."""

    def __init__(self, name: str) -> None:
        self._done = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    @property
    def is_over(self) -> bool:
        """The thread has done what it had to do, or died of it."""
        return not self._thread.is_alive()

    @abstractmethod
    def _work(self) -> None:
        """Returns soon after `_done` is set."""

    def _guarded(self) -> None:
        try:
            self._work()
        except Exception as error:
            self._error = error
