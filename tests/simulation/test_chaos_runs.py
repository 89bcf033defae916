"""A run of the chaos simulation: the seed alone decides it, and what it tells is so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.planting import FAIR, JOBS, STORMY, runs
from thumbline.service import (
    worker,
)
from thumbline.service.reconcile import run_pass
from thumbline.service.reconcile.time_share import TimeShare
from thumbline.service.worker import Outcome
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


def test_some_passes_of_the_reconciler_stop_early(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[float] = []

    class Spy(TimeShare):
        @property
        def is_over(self) -> bool:
            over = self.remaining_seconds() <= self.stop_at_seconds
            if over:
                stopped.append(self.stop_at_seconds)
            return over

    monkeypatch.setattr(run_pass, "TimeShare", Spy)
    assert run_seed(STORMY, JOBS).is_good
    assert stopped


def test_a_failing_seed_is_replayed_by_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_ACKNOWLEDGED", worker._ACKNOWLEDGED | {Outcome.BOUNCED, Outcome.RELEASED})
    run = run_seed(0, JOBS)
    assert not run.is_good
    assert run.replay == f"make chaos SEEDS=1 JOBS={JOBS} SEED0=0"
