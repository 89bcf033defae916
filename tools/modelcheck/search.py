"""The breadth-first search. Components of a state are numbered and moves are remembered per row and actor, so
that a state costs microseconds; the rules themselves run once for each situation that they may meet."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from tools.modelcheck.configuration import Configuration
from tools.modelcheck.graph import Graph
from tools.modelcheck.protocol import Protocol
from tools.modelcheck.state import State
from tools.modelcheck.successors import Successors

PROGRESS_STATES = 100_000


class Step(NamedTuple):
    label: str
    state: State


@dataclass(frozen=True, slots=True)
class Violation:
    sentence: str
    trace: tuple[Step, ...]
    """The shortest way there, the initial state first."""


@dataclass(slots=True)
class Exploration:
    """All states found, in the order of their distance, and how each was reached first."""

    states: list[tuple[int, ...]] = field(default_factory=list)
    parents: array[int] = field(default_factory=lambda: array("I"))
    labels: array[int] = field(default_factory=lambda: array("H"))
    graph: Graph = field(default_factory=Graph)
    """The fair steps."""
    violation: Violation | None = None


def explore(
    configuration: Configuration, protocol: Protocol, progress: Callable[[int], None] = lambda _: None
) -> Exploration:
    """Every reachable state, or as many as it takes to meet the first violation."""
    successors = Successors(configuration, protocol)
    found = Exploration()
    states, parents, labels, graph = found.states, found.parents, found.labels, found.graph
    with_fairness = configuration.passes > 0
    initial = successors.initial()
    numbers: dict[tuple[int, ...], int] = {initial: 0}
    states.append(initial)
    parents.append(0)
    labels.append(0)
    graph.add_state(successors.marks(initial))
    at = 0
    while at < len(states):
        for label, after, fair, completes, broken in successors.of(states[at]):
            sentence = broken
            number = numbers.get(after)
            if number is None:
                number = numbers[after] = len(states)
                states.append(after)
                parents.append(at)
                labels.append(label)
                graph.add_state(successors.marks(after))
                sentence = broken or successors.broken(after)
                if len(states) % PROGRESS_STATES == 0:
                    progress(len(states))
            if sentence is not None:
                last = Step(successors.label(label), successors.decoded(after))
                found.violation = Violation(sentence, (*_path(found, successors, at), last))
                return found
            if fair and with_fairness and number != at:
                graph.add_edge(at, number, completes)
        at += 1
    if with_fairness:
        _check_liveness(found, successors)
    return found


def _check_liveness(found: Exploration, successors: Successors) -> None:
    for sentence, stuck in found.graph.unfulfilled():
        found.violation = Violation(sentence, _path(found, successors, stuck))
        return


def _path(found: Exploration, successors: Successors, number: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    while number:
        steps.append(Step(successors.label(found.labels[number]), successors.decoded(found.states[number])))
        number = found.parents[number]
    steps.append(Step("the job is accepted", successors.decoded(found.states[0])))
    return tuple(reversed(steps))
