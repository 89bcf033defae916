"""The matrix itself: every boundary of every scenario, struck in every way, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation.crash_expected import End, Strike, check
from tests.simulation.crash_scenarios import Scenario
from tests.simulation.crash_world import CrashWorld
from thumbline.domain.errors import DependencyUnavailableError
from tools.chaos.scheduler import ProcessKilledError

_READS = frozenset({"get", "due", "upcoming", "read_snapshot", "originals_after", "work_queue.depth"})
"""They have no effect, so what follows one is struck together with it."""
_NOTES = frozenset({"write_snapshot"})
_RECEIVES_OF_EMPTY_QUEUES = frozenset({"undelivered.receive", "relay_failures.receive"})
_RETRY_SECONDS = 31
"""A copy that a dead operator had received is visible again by then."""


LESSON = {
    ("relay", "work_queue.send", Strike.KILL_BEFORE): "S16 a",
    ("worker", "work_queue.receive", Strike.KILL_AFTER): "S16 b",
    ("worker", "put_thumbnail", Strike.KILL_AFTER): "S16 c",
    ("worker", "complete", Strike.KILL_AFTER): "S16 d, S13",
    ("worker", "work_queue.delete", Strike.KILL_AFTER): "S16 e",
}
"""The lesson's own rows, by its numbers."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """The n-th call of an operation in a scenario."""

    operation: str
    occurrence: int

    @property
    def label(self) -> str:
        return self.operation if self.occurrence == 1 else f"{self.operation} ({self.occurrence})"


@dataclass(frozen=True, slots=True)
class Cell:
    end: End
    copies: int
    renders: int
    seconds: int
    healers: tuple[str, ...]

    def __str__(self) -> str:
        who = ", ".join(self.healers) or "nobody had to"
        copies = ("", ", 1 copy", ", 2 copies")[self.copies]
        return f"{self.end}{copies}, {self.renders} rendered, {self.seconds} s: {who}"


def boundaries_of(scenario: Scenario) -> list[Boundary]:
    """Found by running the scenario unharmed."""
    world = CrashWorld()
    scenario.prepare(world)
    calls: list[Boundary] = []

    def watch(event: str) -> None:
        when, operation = event.split(" ", 1)
        if when == "before" and operation not in _READS | _NOTES | _ignored(scenario):
            calls.append(Boundary(operation, 1 + sum(call.operation == operation for call in calls)))

    world.faults.watch = watch
    scenario.act(world)
    return calls


def _ignored(scenario: Scenario) -> frozenset[str]:
    drains = {
        "reconciler, undelivered": "undelivered.receive",
        "reconciler, relay failure": "relay_failures.receive",
    }
    return _RECEIVES_OF_EMPTY_QUEUES - {drains.get(scenario.name)}


def is_possible(boundary: Boundary, strike: Strike) -> bool:
    """Rendering happens inside the process: its outcome is never unknown."""
    return not (boundary.operation == "render" and strike is Strike.UNKNOWN)


def run_cell(scenario: Scenario, boundary: Boundary, strike: Strike) -> Cell:
    """Strikes, lets whoever retries retry, lets time pass until rest, and holds the rest to the promise."""
    world = CrashWorld()
    world.has_reconciler = scenario.reconciled
    scenario.prepare(world)
    rendered_before = len(world.renderer.rendered)
    world.faults.watch = _striking(world, scenario, boundary, strike)
    striking = world.faults.watch
    try:
        scenario.act(world)
    except (ProcessKilledError, DependencyUnavailableError):
        if scenario.retried:
            world.healers["retry"] += 1
            world.clock.advance(_RETRY_SECONDS)
            scenario.act(world)
    assert world.faults.watch is not striking, "the boundary was never reached"
    seconds = world.settle()
    struck = (boundary.operation, strike)
    copies = check(world, scenario.expected, struck)
    renders = len(world.renderer.rendered) - rendered_before
    return Cell(scenario.expected.end_of(struck), copies, renders, seconds, tuple(world.healers))


def _striking(
    world: CrashWorld, scenario: Scenario, boundary: Boundary, strike: Strike
) -> Callable[[str], None]:
    when = "after" if strike in (Strike.KILL_AFTER, Strike.UNKNOWN) else "before"
    event = f"{when} {boundary.operation}"
    left = boundary.occurrence

    def watch(seen: str) -> None:
        nonlocal left
        left -= seen == event
        if left or seen != event:
            return
        world.faults.watch = None
        if strike in (Strike.KILL_BEFORE, Strike.KILL_AFTER):
            raise ProcessKilledError(boundary.label)
        if strike is Strike.UNKNOWN:
            raise DependencyUnavailableError("struck", boundary.label)
        if strike is Strike.PAUSE:
            world.let_others_go_on()
        else:
            (scenario.duplicate or scenario.act)(world)

    return watch
