"""The search itself: the sizes that CI runs, and what it prints."""

from __future__ import annotations

import io
import re

import pytest

from thumbline.domain import checkup
from thumbline.domain.checkup import Delivery, RefusedClaim
from tools.modelcheck.__main__ import main
from tools.modelcheck.configuration import CI, THOROUGH, Configuration
from tools.modelcheck.graph import DRAINED, STARTABLE, SUCCEEDED, Graph
from tools.modelcheck.run import run

TINY = Configuration(name="tiny", workers=1, crashes=False)


def test_the_protocol_has_no_violation() -> None:
    output = io.StringIO()

    assert run(CI, output) == 0

    summary = re.fullmatch(r"modelcheck: (\d+) states, 0 violations", output.getvalue().splitlines()[-1])
    assert summary is not None
    assert int(summary[1]) >= 150_000


@pytest.mark.parametrize("sizes", [CI, THOROUGH], ids=["ci", "thorough"])
def test_both_sizes_have_two_workers_with_redrive_and_delete(sizes: tuple[Configuration, ...]) -> None:
    assert [one for one in sizes if one.workers == 2 and one.operator and one.client]
    assert len({one.name for one in sizes}) == len(sizes)


def test_a_violation_is_told_by_the_shortest_way_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "explain_refused_claim", lambda *_: RefusedClaim(Delivery.SKIP))
    output = io.StringIO()

    assert run([Configuration(name="small")], output) == 1

    lines = output.getvalue().splitlines()
    told = lines.index("small: I10: an open job has no message, and none is owed")
    steps = [line.split(maxsplit=1)[1] for line in lines[told + 1 : -1 : 2]]
    assert len(steps) == 8
    assert steps[0] == "the job is accepted"
    assert "a worker claims the job" in steps
    assert steps[-2:] == ["a worker finds nothing to do", "a worker acknowledges"]
    assert lines[-2].startswith("      row: RUNNING")
    assert lines[-1] == f"modelcheck: {_states(lines)} states, 1 violations"


def test_the_command_searches_the_size_that_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tools.modelcheck.__main__.CI", [TINY])
    monkeypatch.setattr("tools.modelcheck.__main__.THOROUGH", [TINY, TINY])

    assert main(["--ci"]) == 0
    small = capsys.readouterr().out.splitlines()
    assert main([]) == 0
    large = capsys.readouterr().out.splitlines()

    assert (len(small), len(large)) == (2, 3)
    assert 2 * _total(small[-1]) == _total(large[-1]) > 100


def test_a_state_that_cannot_drain_is_found() -> None:
    graph = Graph()
    for marks in (0, DRAINED, 0, 0):
        graph.add_state(marks)
    graph.add_edge(0, 1, completes=False)
    graph.add_edge(0, 2, completes=False)
    graph.add_edge(3, 1, completes=True)

    assert list(graph.unfulfilled()) == [
        ("I8: no drained terminal state is reachable", 2),
        ("I8: a job that never completes never ends", 2),
    ]


def test_a_startable_job_that_cannot_succeed_is_found() -> None:
    graph = Graph()
    for marks in (STARTABLE, STARTABLE, SUCCEEDED | DRAINED, DRAINED):
        graph.add_state(marks)
    graph.add_edge(0, 2, completes=True)
    graph.add_edge(0, 3, completes=False)
    graph.add_edge(1, 3, completes=False)

    assert list(graph.unfulfilled()) == [("I8: a job with attempts left can no longer succeed", 1)]


def _states(lines: list[str]) -> int:
    return sum(int(match[1]) for line in lines if (match := re.match(r"\w+: (\d+) states,.* of CPU", line)))


def _total(line: str) -> int:
    match = re.fullmatch(r"modelcheck: (\d+) states, 0 violations", line)
    assert match is not None
    return int(match[1])
