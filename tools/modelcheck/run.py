"""Searches configurations in turn and reports: progress, figures, and the shortest way to each violation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TextIO

from tools.modelcheck.configuration import Configuration
from tools.modelcheck.protocol import Protocol
from tools.modelcheck.search import Violation, explore


def run(configurations: Sequence[Configuration], output: TextIO) -> int:
    """The exit status: 0 only where nothing was violated."""
    states = violations = 0
    for configuration in configurations:
        searched, violation = _search(configuration, output)
        states += searched
        violations += violation is not None
        if violation is not None:
            _line(output, f"{configuration.name}: {violation.sentence}")
            for line in trace_lines(violation):
                _line(output, line)
    _line(output, f"modelcheck: {states} states, {violations} violations")
    return 1 if violations else 0


def trace_lines(violation: Violation) -> list[str]:
    """The counterexample, a step and the state after it at a time."""
    lines = []
    for number, step in enumerate(violation.trace):
        lines += [f"  {number:3} {step.label}", f"      {step.state}"]
    return lines


def _search(configuration: Configuration, output: TextIO) -> tuple[int, Violation | None]:
    """Counts are released before the next search, which needs the memory."""
    name, began = configuration.name, time.process_time()
    found = explore(configuration, Protocol(), lambda count: _line(output, f"{name}: {count} states …"))
    seconds = time.process_time() - began
    count = len(found.states)
    rate = round(count / max(seconds, 0.001))
    edges = f", {found.graph.edge_count} fair steps" if configuration.passes else ""
    _line(output, f"{name}: {count} states{edges} in {seconds:.1f} s of CPU, {rate} states/s")
    return count, found.violation


def _line(output: TextIO, text: str) -> None:
    print(text, file=output, flush=True)
