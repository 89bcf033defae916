"""Passes of the reconciler beside the schedule's own, whose minute would be most of a small run's time."""

from __future__ import annotations

import contextlib

from thumbline.domain.errors import DependencyUnavailableError
from tools.chaos_local.view import View
from tools.soak.background import Background

_PERIOD_SECONDS = 15.0


class Passes(Background):
    """A thread that starts a pass every quarter of a minute, until its block ends. Passes may overlap."""

    def __init__(self, view: View) -> None:
        super().__init__("passes")
        self._view = view

    def _work(self) -> None:
        while not self._done.wait(_PERIOD_SECONDS):
            with contextlib.suppress(DependencyUnavailableError):
                self._view.invoke_reconciler()
