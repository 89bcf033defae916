"""Passes of the reconciler beside the schedule's own, whose minute would be most of a small run's time."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Self

from thumbline.domain.errors import DependencyUnavailableError
from tools.chaos_local.view import View

_PERIOD_SECONDS = 15.0


class Passes:
    """A thread that starts a pass every quarter of a minute, until its block ends. Passes may overlap."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._start_each, name="passes", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _start_each(self) -> None:
        while not self._done.wait(_PERIOD_SECONDS):
            with contextlib.suppress(DependencyUnavailableError):
                self._view.invoke_reconciler()
