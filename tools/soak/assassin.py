"""Kills processes of a function at random moments, as a system out of memory would."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from tools.local.processes import ProcessIdentity, kill, python_processes_under
from tools.soak.background import Background

_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 3.0
_JOBS_PER_KILL = 20
"""Whoever is killed at every cold start never gets to work: a storm without end would prove only that."""


def kills_among(jobs: int) -> int:
    """How many kills a run of so many jobs stands."""
    return max(1, jobs // _JOBS_PER_KILL)


def workers_of(function_name: str, run: Path) -> list[ProcessIdentity]:
    """The emulator's processes that run this one function: each has a folder named after it."""
    prefix = f"{run / 'tmp'}{os.sep}ministack-lambda-{function_name}-"
    return [
        process
        for process in python_processes_under(run / "tmp")
        if len(process.command) == 2 and process.command[1].startswith(prefix)
    ]


class Assassin(Background):
    """A thread that kills one worker after each random pause, until its budget is spent or its block ends.

    Pauses and the choice among victims follow the seed; which job a victim held does not. No one is killed
    while it is not `ripe`.
    """

    def __init__(
        self,
        function_name: str,
        run: Path,
        *,
        budget: int,
        seed: int,
        ripe: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__("assassin")
        self._function_name = function_name
        self._run = run
        self._budget = budget
        self._ripe = ripe
        self._chance = random.Random(seed)
        self.kills = 0

    def _work(self) -> None:
        while self.kills < self._budget and not self._done.wait(self._pause_seconds()):
            victims = sorted(workers_of(self._function_name, self._run), key=lambda process: process.pid)
            if victims and self._ripe() and kill(self._chance.choice(victims)):
                self.kills += 1

    def _pause_seconds(self) -> float:
        return self._chance.uniform(_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
