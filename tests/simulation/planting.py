"""How a bug is planted in the protocol, and whether the chaos simulation finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.adapters.memory.stream_mapping import MemoryStreamMapping
from thumbline.domain.row import AllOf, AnyOf, Condition
from thumbline.domain.transition import Transition
from tools.chaos import pictures, universe
from tools.chaos.days import Day, day_of
from tools.chaos.pictures import Kind
from tools.chaos.run import Run, run_seed
from tools.chaos.weather import Weather

JOBS = 40
STORMY, UNAIDED, FAIR = (next(seed for seed in range(10) if day_of(seed) is day) for day in Day)
Plant = pytest.MonkeyPatch


def runs(*seeds: int, jobs: int = JOBS) -> list[Run]:
    return [run_seed(seed, jobs) for seed in seeds or range(3)]


def found(sentence: str, *seeds: int, jobs: int = JOBS) -> bool:
    """Does a violation of one of these seeds say so? The invariant comes first, then some of its words."""
    invariant, _, words = sentence.partition(" ")
    violations = [violation for run in runs(*seeds, jobs=jobs) for violation in run.violations]
    return any(violation.startswith(f"{invariant} at ") and words in violation for violation in violations)


def without_condition(transition: Callable[..., Transition], attribute: str) -> Callable[..., Transition]:
    def mutant(*args: Any, **options: Any) -> Transition:
        made = transition(*args, **options)
        return replace(made, condition=_without(made.condition, attribute))

    return mutant


def _without(condition: Any, attribute: str) -> Any:
    if not isinstance(condition, AllOf | AnyOf):
        return condition
    kept: tuple[Condition, ...] = tuple(
        _without(part, attribute) for part in condition.parts if getattr(part, "attribute", None) != attribute
    )
    return type(condition)(kept)


def without_change(transition: Callable[..., Transition], *attributes: str) -> Callable[..., Transition]:
    def mutant(*args: Any, **options: Any) -> Transition:
        made = transition(*args, **options)
        kept = tuple(change for change in made.changes if change.attribute not in attributes)
        return replace(made, changes=kept)

    return mutant


def only(plant: Plant, *kinds: Kind) -> None:
    plant.setattr(pictures, "_SHARES", dict.fromkeys(kinds, 1))


def let_the_relay_give_up(plant: Plant) -> None:
    def impatient(*args: Any, **_: Any) -> MemoryStreamMapping:
        clock, failure_queue = args
        return MemoryStreamMapping(clock, failure_queue, retry_attempts=0)

    plant.setattr(universe, "MemoryStreamMapping", impatient)
    plant.setattr(universe, "Weather", partial(Weather, killed=0.3))


def let_the_queue_give_up(plant: Plant) -> None:
    def impatient(*args: Any, **options: Any) -> MemoryQueue:
        limit = None if options["redrive_target"] is None else 1
        return MemoryQueue(*args, **options | {"max_receive_count": limit})

    plant.setattr(universe, "MemoryQueue", impatient)
