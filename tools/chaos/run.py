"""One seed from the first POST to the last removed object, and what it came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tools.chaos.clients import start_clients
from tools.chaos.services import reconcile, start_services
from tools.chaos.troublemakers import start_troublemakers
from tools.chaos.universe import FAULTY_MS, TIMINGS, Universe

SETTLING_MS = 2 * 3600_000
"""The stated bound: this long after the faults, every job is terminal and nothing is owed. It is the longest
spacing of re-publishes (an hour), one backoff ceiling (15 minutes) of a bounce, and one visibility timeout
with its redeliveries; seeds need far less."""
_LOOK_MS = 30_000
_HOUR_MS = 3600_000
_DAY_MS = 24 * _HOUR_MS


@dataclass(frozen=True, slots=True)
class Run:
    """`settled_seconds`: how long after the faults the last job became terminal."""

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
    start_services(universe)
    start_clients(universe, jobs)
    start_troublemakers(universe)
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
        deleted=ledger.deleted_by_clients,
        lost=ledger.lost(),
        stuck=ledger.stuck(),
        violations=tuple(ledger.violations),
        absorbed=sum(ledger.counts[outcome] for outcome in ("skipped", "fenced", "lost")),
        rescued=sum(
            ledger.counts[f"reconciler: {healed}"]
            for healed in ("republished", "rescued", "requeued", "owed_again", "exhausted")
        ),
        kills=universe.weather.kills,
        freezes=universe.weather.freezes,
        faults=universe.weather.faults,
        settled_seconds=max(0.0, (ledger.settled_at - universe.calm_at) / 1000),
        counts=ledger.counts,
    )


def _direct(universe: Universe, jobs: int) -> None:
    """Ends the faults, waits for rest, and looks; then lets a day and the retention pass."""
    universe.scheduler.sleep(FAULTY_MS)
    universe.calm_down()
    while not _is_at_rest(universe) and universe.scheduler.now < universe.calm_at + SETTLING_MS:
        universe.scheduler.sleep(_LOOK_MS)
    universe.ledger.check_at_rest(jobs)
    if not universe.ledger.stuck():
        _check_that_nothing_is_left(universe)
    universe.scheduler.stop()


def _is_at_rest(universe: Universe) -> bool:
    """No job is open, nothing is owed, and the queues that drain by themselves are empty."""
    return (
        not universe.busy_clients
        and not universe.ledger.stuck()
        and not any(mapping.pending for mapping in universe.mappings)
        and not universe.work_queue.messages
        and not universe.relay_failures.messages
    )


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
    jobs = len(universe.tables.rows)
    for _ in range(4 + 2 * jobs // 400):
        reconcile(universe)
        universe.scheduler.leap((TIMINGS.function_timeout_seconds + 2 * TIMINGS.skew_seconds) * 1000)
