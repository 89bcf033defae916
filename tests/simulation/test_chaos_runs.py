"""A run of the chaos simulation: the seed alone decides it, and what it tells is so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulation.planting import FAIR, JOBS, STORMY, runs
from thumbline.service import (
    worker,
)
from thumbline.service.reconcile.allowance import FINISHING_SECONDS
from thumbline.service.reconcile.reconciler import Reconciler, ReconcileReport
from thumbline.service.reconcile.run_pass import run_pass
from thumbline.service.worker import Outcome
from tools.chaos import services
from tools.chaos.__main__ import main
from tools.chaos.run import SETTLING_MS, run_seed

ROOT = Path(__file__).resolve().parents[2]


def chaos(*options: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "layers" / "core" / "python"))),
        "PYTHONHASHSEED": hash_seed,
    }
    return subprocess.run(
        [sys.executable, "-m", "tools.chaos", *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_seed_alone_decides() -> None:
    """Not the process, not its hash seed; on a day of each kind."""
    first = chaos("--seeds", "5", "--jobs", "30", hash_seed="1")
    second = chaos("--seeds", "5", "--jobs", "30", hash_seed="2")
    assert first.stdout == second.stdout
    assert first.stdout.splitlines()[0] != first.stdout.splitlines()[1]
    assert first.returncode == 0


def test_the_last_line_is_the_sum() -> None:
    run = run_seed(5, JOBS)
    line = chaos("--seeds", "1", "--jobs", str(JOBS), "--seed0", "5").stdout.splitlines()[-1]
    assert line == (
        f"chaos: 1 seeds, {run.accepted} accepted, {run.succeeded} succeeded, {run.failed} failed, "
        "0 lost, 0 stuck, 0 violations"
    )


def test_a_run_balances_and_settles_within_the_bound() -> None:
    """I15, and that something bad did happen, but on a fair day."""
    seen = runs(*range(5))
    for run in seen:
        assert run.is_good, run.violations
        assert run.accepted == JOBS == run.succeeded + run.failed
        assert run.settled_seconds <= SETTLING_MS / 1000
    for figure in ("faults", "kills", "freezes", "absorbed", "rescued", "deleted"):
        assert sum(getattr(run, figure) for run in seen) > 0, figure
    fair = seen[FAIR]
    assert (fair.faults, fair.kills, fair.freezes, fair.rescued) == (0, 0, 0, 0)
    assert sum(run.counts[Outcome.EXPIRED] + run.counts["reconciler: expired"] for run in seen) > 0


def test_some_passes_of_the_reconciler_have_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given: set[float] = set()

    def look(reconciler: Reconciler, remaining_seconds: Callable[[], float]) -> ReconcileReport:
        given.add(remaining_seconds())
        return run_pass(reconciler, remaining_seconds)

    monkeypatch.setattr(services, "run_pass", look)
    assert run_seed(STORMY, JOBS).is_good
    assert given == set(services._PASSES_SECONDS)
    assert min(given) < FINISHING_SECONDS + 2


def test_a_failing_seed_is_replayed_by_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_ACKNOWLEDGED", worker._ACKNOWLEDGED | {Outcome.BOUNCED, Outcome.RELEASED})
    run = run_seed(0, JOBS)
    assert not run.is_good
    assert run.replay == f"make chaos SEEDS=1 JOBS={JOBS} SEED0=0"


@pytest.mark.parametrize("nothing", [["--seeds", "0"], ["--seeds", "-3"], ["--jobs", "0"]])
def test_a_run_of_nothing_is_refused(
    nothing: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["chaos", *nothing])
    with pytest.raises(SystemExit) as refused:
        main()
    assert refused.value.code == 2
    assert "must be at least 1" in capsys.readouterr().err
