"""One run's faults: when each dependency is down, how often calls fail, whom a kill or a freeze meets."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from thumbline.domain.errors import DependencyUnavailableError
from tools.chaos.scheduler import Process, Scheduler

_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which one dependency refuses this share of its calls. Virtual epoch milliseconds."""

    dependency: str
    begins_at: int
    ends_at: int
    refused: float


@dataclass(slots=True)
class Weather:
    """Every call of a twin passes through it; nothing bad happens from `calm_at` on, on a fair day never."""

    scheduler: Scheduler
    chance: random.Random
    calm_at: int
    spells: Sequence[Spell] = ()
    refused: float = 0.01
    answer_lost: float = 0.01
    frozen: float = 0.001
    """A process stops for up to three leases at a call."""
    killed: float = 0.08
    """Of all invocations, somewhere among their first calls."""
    longest_latency_ms: int = 40
    kills: int = 0
    freezes: int = 0
    faults: int = 0
    _spells_of: dict[str, list[Spell]] = field(init=False)

    def __post_init__(self) -> None:
        self._spells_of = {}
        for spell in self.spells:
            self._spells_of.setdefault(spell.dependency, []).append(spell)

    @property
    def is_calm(self) -> bool:
        return self.scheduler.now >= self.calm_at

    def new_process(self, role: str, *, lives_seconds: float) -> Process:
        """An invocation that starts now, on a machine whose clock is off by at most half the skew."""
        doomed = not self.is_calm and self.chance.random() < self.killed
        return Process(
            role,
            clock_offset_ms=self.chance.randint(-2_500, 2_500),
            ends_at=self.scheduler.now + round(lives_seconds * 1000),
            calls_left=self.chance.randint(0, 40) if doomed else None,
        )

    @contextmanager
    def around(self, dependency: str, operation: str) -> Iterator[None]:
        self._travel()
        if self._refuses(dependency):
            self._count_fault()
            raise DependencyUnavailableError(dependency, f"{operation} was refused")
        yield
        self._travel()
        if not self.is_calm and self.chance.random() < self.answer_lost:
            self._count_fault()
            raise DependencyUnavailableError(dependency, f"the answer of {operation} was lost")

    def _count_fault(self) -> None:
        self.faults += 1
        if self.scheduler.process is not None:
            self.scheduler.process.struck = True

    def _travel(self) -> None:
        """One way of a call: time passes, others take their turn, and the process may not see the end."""
        process = self.scheduler.process
        if process is not None:
            self._strike(process)
        self.scheduler.sleep(1 + self.chance.random() * self.longest_latency_ms)

    def _strike(self, process: Process) -> None:
        if process.calls_left is not None and not self.is_calm:
            process.calls_left -= 1
            if process.calls_left < 0:
                self.kills += 1
                process.dead = True
        process.check(self.scheduler.now)
        if not self.is_calm and self.chance.random() < self.frozen:
            self.freezes += 1
            process.struck = True
            process.frozen_until = self.scheduler.now + self.chance.randint(1_000, 100_000)

    def _refuses(self, dependency: str) -> bool:
        if self.is_calm:
            return False
        share = self.refused
        for spell in self._spells_of.get(dependency, ()):
            if spell.begins_at <= self.scheduler.now < spell.ends_at:
                share = max(share, spell.refused)
        return self.chance.random() < share


def spells_of(chance: random.Random, begins_at: int, ends_at: int) -> list[Spell]:
    """Outages, throttling and half-broken minutes, in the whole time of the faults."""
    spells: list[Spell] = []
    for dependency in ("dynamodb", "s3", "sqs"):
        for _ in range(chance.randint(0, 2)):
            begin = chance.randint(begins_at, ends_at)
            length = chance.choice([_MINUTE_MS, 3 * _MINUTE_MS, 10 * _MINUTE_MS])
            spells.append(Spell(dependency, begin, begin + length, chance.choice([0.3, 0.5, 1.0])))
    return spells
