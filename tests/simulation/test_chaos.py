"""The chaos simulation itself: it replays, it tells, and it finds what is broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from thumbline.domain.transition import owned_by
from thumbline.domain.transitions import attempt
from thumbline.service import process_delivery, relay_outbox, worker
from thumbline.service.worker import Outcome
from tools.chaos.run import SETTLING_MS, run_seed
from tools.chaos.scheduler import Process, ProcessKilledError, Scheduler
from tools.chaos.threads import VirtualLock

ROOT = Path(__file__).resolve().parents[2]
JOBS = 40


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
    """Not the process, not its hash seed."""
    first = chaos("--seeds", "2", "--jobs", "30", hash_seed="1")
    second = chaos("--seeds", "2", "--jobs", "30", hash_seed="2")
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
    """I15, and that something bad did happen."""
    runs = [run_seed(seed, JOBS) for seed in range(3)]
    for run in runs:
        assert run.is_good, run.violations
        assert run.accepted == JOBS == run.succeeded + run.failed
        assert run.settled_seconds <= SETTLING_MS / 1000
    for figure in ("faults", "kills", "absorbed", "rescued", "deleted"):
        assert sum(getattr(run, figure) for run in runs) > 0, figure


def test_an_ack_before_the_work_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_ACKNOWLEDGED", worker._ACKNOWLEDGED | {Outcome.BOUNCED, Outcome.RELEASED})
    run = run_seed(0, JOBS)
    assert any(violation.startswith("I10") for violation in run.violations)
    assert run.replay == f"make chaos SEEDS=1 JOBS={JOBS} SEED0=0"


def test_a_claim_that_takes_a_live_lease_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "has_dead_lease", lambda _moment: owned_by(0)[0])
    violations = run_seed(0, JOBS).violations
    assert any(violation.startswith("I7") for violation in violations)


def test_a_relay_that_forgets_exhausted_jobs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_outbox, "owes_copy", lambda _job: False)
    violations = [violation for seed in range(3) for violation in run_seed(seed, JOBS).violations]
    assert any(violation.startswith("I9") for violation in violations)


def test_an_error_of_ours_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(process_delivery, "make_thumbnails", fail)
    assert any("KeyError" in violation for violation in run_seed(0, 8).violations)


def test_actors_wake_in_the_order_of_their_times() -> None:
    scheduler = Scheduler(0)
    seen: list[tuple[str, int]] = []

    def actor(name: str, *sleeps: int) -> None:
        for milliseconds in sleeps:
            scheduler.sleep(milliseconds)
            seen.append((name, scheduler.now))

    scheduler.spawn(lambda: actor("a", 10, 10))
    scheduler.spawn(lambda: actor("b", 5, 10))
    scheduler.run()
    assert seen == [("b", 5), ("a", 10), ("b", 15), ("a", 20)]


def test_a_process_ends_with_its_time() -> None:
    scheduler = Scheduler(0)
    ended: list[int] = []

    def actor() -> None:
        try:
            scheduler.sleep(100)
        except ProcessKilledError:
            ended.append(scheduler.now)
            raise

    scheduler.spawn(actor, process=Process("worker", ends_at=30))
    scheduler.run()
    assert ended == [30]


def test_a_frozen_process_wakes_late() -> None:
    scheduler = Scheduler(0)
    process = Process("worker", frozen_until=500)
    woken: list[int] = []

    def actor() -> None:
        scheduler.sleep(10)
        woken.append(scheduler.now)

    scheduler.spawn(actor, process=process)
    scheduler.run()
    assert woken == [500]


def test_a_virtual_lock_lets_one_in_at_a_time() -> None:
    scheduler = Scheduler(0)
    lock = VirtualLock(scheduler)
    seen: list[int] = []

    def actor() -> None:
        with lock:
            scheduler.sleep(10)
            seen.append(scheduler.now)

    for _ in range(3):
        scheduler.spawn(actor)
    scheduler.run()
    assert seen == [10, 20, 30]


def test_what_an_actor_raises_is_raised() -> None:
    scheduler = Scheduler(0)

    def fail() -> None:
        raise KeyError("actor")

    scheduler.spawn(fail)
    scheduler.spawn(lambda: scheduler.sleep(1_000))
    with pytest.raises(KeyError, match="actor"):
        scheduler.run()
