"""Pictures whose second word says what rendering them does, and a renderer that obeys in virtual time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from thumbline.adapters.memory.renderer import MemoryRenderer
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.presets import Preset
from thumbline.ports.renderer import Rendering
from tools.chaos.days import Day
from tools.chaos.scheduler import Scheduler
from tools.chaos.weather import Weather


class Kind(StrEnum):
    GOOD = "good"
    SLOW = "slow"
    """Takes longer than a lease; kept alive by heartbeats."""
    HANGING = "hanging"
    """Never ends: the renderer's own time-out ends it."""
    FLAKY = "flaky"
    """Crashes the decoder half of the time."""
    POISON = "poison"
    """Crashes the decoder every time."""
    DEADLY = "deadly"
    """Kills the whole process every time, as too much memory does."""
    BROKEN = "broken"
    """No picture: a permanent failure."""


RENDERABLE = (Kind.GOOD, Kind.SLOW, Kind.FLAKY)
_SHARES = {
    Kind.GOOD: 80,
    Kind.SLOW: 4,
    Kind.HANGING: 1,
    Kind.FLAKY: 5,
    Kind.POISON: 3,
    Kind.DEADLY: 2,
    Kind.BROKEN: 5,
}


def picture(chance: random.Random, number: int, day: Day) -> bytes:
    """A picture that kills is a fault."""
    shares = {
        kind: share for kind, share in _SHARES.items() if day is not Day.FAIR or kind is not Kind.DEADLY
    }
    (kind,) = chance.choices(list(shares), list(shares.values()))
    return f"GIF89a {kind} {number}".encode()


def kind_of(original: bytes) -> Kind:
    return Kind(original.split(b" ", 2)[1].decode())


def is_made_from(thumbnail: bytes, preset: str, original: bytes) -> bool:
    """By whatever release."""
    return thumbnail.startswith(preset.encode() + b":" + original + b" ")


@dataclass(slots=True)
class ChaosRenderer:
    """`release` is the worker's: another one makes other bytes of the same picture."""

    scheduler: Scheduler
    weather: Weather
    chance: random.Random
    release: str

    def render(self, original: bytes, presets: Sequence[Preset], *, wall_seconds: float) -> Rendering:
        kind = kind_of(original)
        seconds = self._seconds(kind)
        self.scheduler.sleep(min(seconds, wall_seconds) * 1000)
        if seconds > wall_seconds:
            raise TransientError(FailureCode.RENDER_TIMED_OUT, "took too long")
        if kind is Kind.BROKEN:
            raise PermanentError(FailureCode.NOT_AN_IMAGE, "is no picture")
        if kind is Kind.POISON or (kind is Kind.FLAKY and self.chance.random() < 0.5):
            raise TransientError(FailureCode.RENDER_CRASHED, "the decoder crashed")
        if kind is Kind.DEADLY:
            process = self.scheduler.process
            assert process is not None
            self.weather.kills += 1
            process.dead = True
            process.check(self.scheduler.now)
        made_by = original + b" " + self.release.encode()
        return MemoryRenderer().render(made_by, presets, wall_seconds=wall_seconds)

    def _seconds(self, kind: Kind) -> float:
        if kind is Kind.HANGING:
            return 3600.0
        if kind is Kind.SLOW:
            return self.chance.uniform(20, 80)
        return self.chance.uniform(0.05, 2)
