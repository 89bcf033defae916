"""Every boundary between two effects, struck in five ways; the outcomes are docs/crash-matrix.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.crash_matrix import LESSON, Boundary, Cell, Strike, boundaries_of, is_possible, run_cell
from tests.simulation.crash_scenarios import SCENARIOS, Scenario

PAGE = Path(__file__).resolve().parents[2] / "docs" / "crash-matrix.md"
ROWS = [(scenario, boundary) for scenario in SCENARIOS for boundary in boundaries_of(scenario)]
_HEAD = """# Crash matrix

Written by `tests/simulation/test_crash_matrix.py`; do not edit. Each row is one boundary: a call with an
effect, in the work of one actor. Each column is a way to strike there: the process is killed before or after
the effect; the effect happens and its answer is lost; the process stands still for longer than a lease while
the others go on; another process does the same work at the same moment.

A cell says how the job ended, how often its picture was rendered from there on, how long it took until
nothing was left to do (virtual time, looked at every 20 s), and what brought it there besides the ordinary
relay and worker. *retry* is whoever retries that actor: the client, the stream's mapping, the schedule or the
operator.
The worker's rows run without a reconciler (but for the bad message, which was the job's only one): an
acknowledgement may not rely on it.

Every cell asserts: one job, in the right end state, its objects right, no message left, no copy missing.
"""

Matrix = dict[tuple[str, Boundary, Strike], Cell]


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return {
        (scenario.name, boundary, strike): run_cell(scenario, boundary, strike)
        for scenario, boundary in ROWS
        for strike in Strike
        if is_possible(boundary, strike)
    }


def test_every_boundary_is_struck_in_every_way(matrix: Matrix) -> None:
    """`run_cell` asserts each outcome."""
    assert len(ROWS) >= 25
    assert len(matrix) == sum(is_possible(boundary, strike) for _, boundary in ROWS for strike in Strike)
    assert {name.split(",")[0] for name, _, _ in matrix} == {
        "ingest", "relay", "worker", "reconciler", "redrive", "delete",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "renders", "healers"),
    [
        (("relay", "work_queue.send", Strike.KILL_BEFORE), 1, ("retry",)),
        (("worker", "work_queue.receive", Strike.KILL_AFTER), 1, ("redelivery",)),
        (("worker", "put_thumbnail", Strike.KILL_AFTER), 2, ("redelivery",)),
        (("worker", "complete", Strike.KILL_AFTER), 1, ("duplicate skipped",)),
        (("worker", "work_queue.delete", Strike.KILL_AFTER), 1, ()),
    ],
    ids=["S16a", "S16b", "S16c", "S16d", "S16e"],
)
def test_the_lessons_crash_rows(
    matrix: Matrix, row: tuple[str, str, Strike], renders: int, healers: tuple[str, ...]
) -> None:
    """S16: where a crash leaves things; S13 is its row d, rendered exactly once."""
    name, operation, strike = row
    cell = matrix[name, Boundary(operation, 1), strike]
    assert row in LESSON
    assert (cell.status, cell.renders, cell.healers) == ("SUCCEEDED", renders, healers)


def test_the_page_is_current(matrix: Matrix) -> None:
    page = _page(matrix)
    if PAGE.exists() and PAGE.read_text() == page:
        return
    PAGE.write_text(page)
    pytest.fail("docs/crash-matrix.md was out of date and has been written again; look at what changed")


def _page(matrix: Matrix) -> str:
    lines = [_HEAD, "| actor | effect | " + " | ".join(Strike) + " |", "|---" * (2 + len(Strike)) + "|"]
    for scenario, boundary in ROWS:
        cells = [_text(matrix, scenario, boundary, strike) for strike in Strike]
        lines.append(f"| {scenario.name} | {boundary.label} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _text(matrix: Matrix, scenario: Scenario, boundary: Boundary, strike: Strike) -> str:
    cell = matrix.get((scenario.name, boundary, strike))
    name = LESSON.get((scenario.name, boundary.operation, strike))
    return ("" if name is None else f"**{name}** ") + ("n/a" if cell is None else str(cell))
