"""`make crash-matrix`: writes docs/crash-matrix.md anew, for a reviewer to see what changed."""

from __future__ import annotations

from pathlib import Path

from tests.simulation.crash_expected import Strike
from tests.simulation.crash_matrix import LESSON, Boundary, Cell, boundaries_of, is_possible, run_cell
from tests.simulation.crash_scenarios import SCENARIOS, Scenario

PAGE = Path(__file__).resolve().parents[2] / "docs" / "crash-matrix.md"
_HEAD = """# Crash matrix

Written by `make crash-matrix`; do not edit. `tests/simulation/test_crash_matrix.py` fails
where a cell differs from this page. Each row is one boundary: a call with an effect, in one actor's work.
Each column is a way to strike there: the process is killed before or after the effect; the effect happens and
its answer is lost; the process stands still for longer than a lease while the others go on; another process
does the same work at the same moment.

A cell says how the job ended, with the code of a failure; how many copies of it are in the dead-letter queue;
how often its picture was rendered from there on; how long it took until nothing was left to do (virtual time,
looked at every 20 s); and what brought it there besides the ordinary relay and worker. *retry* is whoever
retries that actor: the client, the stream's mapping, the schedule or the operator.
The worker's rows run without a reconciler (but for the bad message, which was the job's only one): an
acknowledgement may not rely on it.

Every cell asserts: one job, in its scenario's one end; a result for each preset asked for, and its object
right; no other object (but an original without a row, where ingest was struck between the two); no message
left; exactly the copies that are owed, each naming job, generation and code; after a redrive the next
generation and its audit entry.
"""

Matrix = dict[tuple[str, Boundary, Strike], Cell]


def rows() -> list[tuple[Scenario, Boundary]]:
    return [(scenario, boundary) for scenario in SCENARIOS for boundary in boundaries_of(scenario)]


def run_matrix() -> Matrix:
    return {
        (scenario.name, boundary, strike): run_cell(scenario, boundary, strike)
        for scenario, boundary in rows()
        for strike in Strike
        if is_possible(boundary, strike)
    }


def page_of(matrix: Matrix) -> str:
    lines = [_HEAD, "| actor | effect | " + " | ".join(Strike) + " |", "|---" * (2 + len(Strike)) + "|"]
    for scenario, boundary in rows():
        cells = [_text(matrix, scenario, boundary, strike) for strike in Strike]
        lines.append(f"| {scenario.name} | {boundary.label} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _text(matrix: Matrix, scenario: Scenario, boundary: Boundary, strike: Strike) -> str:
    cell = matrix.get((scenario.name, boundary, strike))
    name = LESSON.get((scenario.name, boundary.operation, strike))
    return ("" if name is None else f"**{name}** ") + ("n/a" if cell is None else str(cell))


def main() -> None:
    PAGE.write_text(page_of(run_matrix()))


if __name__ == "__main__":
    main()
