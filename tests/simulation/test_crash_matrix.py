"""Every boundary between two effects, struck in five ways; the outcomes are docs/crash-matrix.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.simulation.crash_expected import SUCCEEDED, Strike
from tests.simulation.crash_matrix import LESSON, Boundary, boundaries_of, is_possible, run_cell
from tests.simulation.crash_page import PAGE, Matrix, page_of, rows, run_matrix
from tests.simulation.crash_scenarios import SCENARIOS
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.domain.job import Job
from thumbline.domain.messages import OutgoingMessage, exhausted_copy
from thumbline.domain.transition import Transition
from thumbline.domain.transitions.redrive import redrive
from thumbline.domain.transitions.unleased import reject_message


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return run_matrix()


def test_every_boundary_is_struck_in_every_way(matrix: Matrix) -> None:
    """`run_cell` asserts each outcome."""
    struck = rows()
    assert len(struck) >= 80
    assert len(matrix) == sum(is_possible(boundary, strike) for _, boundary in struck for strike in Strike)
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
    assert (cell.end, cell.renders, cell.healers) == (SUCCEEDED, renders, healers)


def test_the_page_is_current(matrix: Matrix) -> None:
    """Renderings, seconds and healers of each cell included."""
    assert PAGE.read_text() == page_of(matrix), "look at what changed, then run `make crash-matrix`"


def _unannotated(job: Job) -> OutgoingMessage:
    return replace(exhausted_copy(job), attributes={})


def _thrice(send: Callable[..., Sequence[int]]) -> Callable[..., Sequence[int]]:
    return lambda queue, messages: send(queue, [*messages, *messages, *messages])


def _except_copies(delete: Callable[..., None]) -> Callable[..., None]:
    return lambda queue, handle: None if queue.name == "dead_letters" else delete(queue, handle)


def _without(build: Callable[..., Transition], attribute: str) -> Callable[..., Transition]:
    def built(*arguments: Any, **named: Any) -> Transition:
        right = build(*arguments, **named)
        return replace(right, changes=tuple(one for one in right.changes if one.attribute != attribute))

    return built


BUGS: dict[str, tuple[str, object, str]] = {
    "copies say nothing": ("thumbline.service.relay_outbox.exhausted_copy", _unannotated, "relay, copy"),
    "three copies": (
        "thumbline.adapters.memory.queue.MemoryQueue.send", _thrice(MemoryQueue.send), "relay, copy"
    ),
    "rejected copies say nothing": (
        "thumbline.service.process_delivery.rejected_copy",
        lambda body, *_: OutgoingMessage(body),
        "worker, bad message",
    ),
    "a copy is kept": (
        "thumbline.adapters.memory.queue.MemoryQueue.delete",
        _except_copies(MemoryQueue.delete),
        "redrive, copy",
    ),
    "the same generation": (
        "thumbline.service.redrive_job.redrive", _without(redrive, "generation"), "redrive, by id"
    ),
    "no audit entry": (
        "thumbline.service.redrive_job.redrive", _without(redrive, "trace"), "redrive, by id"
    ),
    "expired, under another code": (
        "thumbline.service.reconcile.treat_due_jobs.expire",
        lambda job_id, moment: reject_message(job_id, "late", moment),
        "reconciler, expire",
    ),
    "no results": ("thumbline.service.process_delivery.make_thumbnails", lambda *_, **__: {}, "relay"),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_cell_sees_what_is_wrong(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, wrong, name = BUGS[bug]
    (scenario,) = [one for one in SCENARIOS if one.name == name]
    boundary = boundaries_of(scenario)[0]
    run_cell(scenario, boundary, Strike.KILL_BEFORE)
    monkeypatch.setattr(where, wrong)

    with pytest.raises(AssertionError):
        run_cell(scenario, boundary, Strike.KILL_BEFORE)
