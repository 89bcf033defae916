"""One seed from the first POST to the last removed object, and what it came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tools.chaos.clients import start_clients
from tools.chaos.days import Day
from tools.chaos.services import reconcile, start_reconciler, start_services
from tools.chaos.troublemakers import start_troublemakers
from tools.chaos.universe import EPOCH_MS, FAULTY_MS, TIMINGS, Universe

SETTLING_MS = 2 * 3600_000
"""The stated bound: this long after the faults, every job is terminal and nothing is owed. It is the longest
spacing of re-publishes (an hour), one backoff ceiling (15 minutes) of a bounce, and one visibility timeout
with its redeliveries; seeds need far less. On an unaided day it bounds the main path alone, and then once
more what the reconciler has to add."""
_LOOK_MS = 30_000
_HEALED = ("republished", "rescued", "requeued", "owed_again", "exhausted")
_HOUR_MS = 3600_000
_DAY_MS = 24 * _HOUR_MS


@dataclass(frozen=True, slots=True)
class Run:
    """`settled_seconds`: how long after the faults, or a late reconciler's start, the last job ended."""

    seed: int
    jobs: int
    accepted: int
    succeeded: int
    failed: int
    deleted: int
    lost: int
    stuck: int
    violations: tuple[str, ...]
    absorbed: int
    """Duplicate deliveries and stale writes that changed nothing."""
    rescued: int
    """What the reconciler had to heal."""
    kills: int
    freezes: int
    faults: int
    settled_seconds: float
    counts: Counter[str]

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.stuck or self.violations)

    @property
    def replay(self) -> str:
        return f"make chaos SEEDS=1 JOBS={self.jobs} SEED0={self.seed}"


def run_seed(seed: int, jobs: int) -> Run:
    universe = Universe(seed)
    start_services(universe, jobs)
    start_clients(universe, jobs)
    start_troublemakers(universe)
    universe.scheduler.spawn(lambda: _watch(universe))
    universe.scheduler.spawn(lambda: _direct(universe, jobs))
    universe.scheduler.run()
    ledger = universe.ledger
    outcomes = Counter(ledger.status.values())
    return Run(
        seed=seed,
        jobs=jobs,
        accepted=len(ledger.status),
        succeeded=outcomes["SUCCEEDED"],
        failed=outcomes["FAILED"],
        deleted=len(ledger.deleted),
        lost=ledger.lost(),
        stuck=ledger.stuck(),
        violations=tuple(ledger.violations),
        absorbed=sum(ledger.counts[outcome] for outcome in ("skipped", "fenced", "lost")),
        rescued=_rescued(universe),
        kills=universe.weather.kills,
        freezes=universe.weather.freezes,
        faults=universe.weather.faults,
        settled_seconds=max(0.0, (ledger.settled_at - _busy_until(universe)) / 1000),
        counts=ledger.counts,
    )


def _direct(universe: Universe, jobs: int) -> None:
    """Ends the faults, waits for rest, and looks; then lets a day and the retention pass."""
    universe.scheduler.sleep(FAULTY_MS)
    universe.calm_down()
    if universe.day is Day.UNAIDED:
        _wait_for_rest(universe, _is_main_path_at_rest)
        universe.ledger.check_debts()
        start_reconciler(universe)
    _wait_for_rest(universe, _is_at_rest)
    universe.ledger.check_at_rest(jobs)
    if universe.day is Day.FAIR and _rescued(universe):
        universe.ledger.violate("I10", f"the reconciler had to heal {_rescued(universe)} jobs on a fair day")
    if not universe.ledger.stuck():
        _check_that_nothing_is_left(universe)
    universe.scheduler.stop()


def _watch(universe: Universe) -> None:
    """Looks between two passes of the reconciler's schedule, or it could heal what is to be seen."""
    universe.scheduler.sleep(_LOOK_MS)
    while True:
        universe.ledger.check_debts()
        if universe.steady_since is not None:
            universe.ledger.check_deadlines(universe.steady_since)
        universe.scheduler.sleep(60_000)


def _wait_for_rest(universe: Universe, is_at_rest: Callable[[Universe], bool]) -> None:
    until = universe.scheduler.now + SETTLING_MS
    while not is_at_rest(universe):
        if universe.scheduler.now >= until:
            left = [f"{universe.ledger.stuck()} open jobs", universe.debts.unpaid()]
            universe.ledger.violate("I1", f"no rest within the bound: {', '.join(filter(None, left))}")
            return
        universe.scheduler.sleep(_LOOK_MS)


def _is_at_rest(universe: Universe) -> bool:
    """No job is open, nothing is owed, and the queues that drain by themselves are empty."""
    return not (universe.visitors or universe.ledger.stuck() or universe.debts.unpaid())


def _is_main_path_at_rest(universe: Universe) -> bool:
    """Without the reconciler: every message and every stream record has come to its end."""
    pending = any(mapping.pending for mapping in universe.mappings)
    return not (universe.visitors or pending or universe.work_queue.messages)


def _rescued(universe: Universe) -> int:
    return sum(universe.ledger.counts[f"reconciler: {healed}"] for healed in _HEALED)


def _busy_until(universe: Universe) -> int:
    return max(EPOCH_MS + FAULTY_MS, universe.reconciled_from or 0)


def _check_that_nothing_is_left(universe: Universe) -> None:
    """Orphans and deleted jobs' objects after a day; rows and objects after the retention (I12)."""
    _leap(universe, _DAY_MS + _HOUR_MS)
    rows = universe.tables.rows
    for key in universe.objects.objects:
        job_id = key.split("/")[1]
        if job_id not in rows:
            universe.ledger.violate("I12", f"{key} has no job and is still there after a day")
    if any("deleted_at" in row for row in rows.values()):
        universe.ledger.violate("I12", "a tombstone is still there after a day")
    _leap(universe, TIMINGS.retention_days * _DAY_MS)
    if rows or universe.objects.objects:
        left = f"{len(rows)} rows and {len(universe.objects.objects)} objects"
        universe.ledger.violate("I12", f"{left} are still there after the retention")


def _leap(universe: Universe, milliseconds: int) -> None:
    """Time passes; the reconciler then catches up: what is due, then what that made due."""
    universe.scheduler.leap(milliseconds)
    idle_passes = 0
    for _ in range(4 + len(universe.tables.rows)):
        idle_passes = 0 if reconcile(universe) else idle_passes + 1
        if idle_passes == 2:
            return
        universe.scheduler.leap((TIMINGS.function_timeout_seconds + 2 * TIMINGS.skew_seconds) * 1000)
