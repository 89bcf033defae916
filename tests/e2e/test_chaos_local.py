"""Real kills on the deployed stack, in the size that CI runs: nothing lost, nothing stuck, all balances."""

from __future__ import annotations

from tools.chaos_local.run import Plan, run
from tools.local.stack import Stack

JOBS = 40


def test_nothing_is_lost_when_processes_are_killed(stack: Stack) -> None:
    said: list[str] = []

    outcome = run(stack.state, Plan(jobs=JOBS, clients=5, seed=1), said.append)

    assert outcome.faults == [], said
    assert outcome.all_is_well
    assert outcome.accepted == JOBS
    assert outcome.kills >= 3, said
    assert outcome.points >= 2, said
    assert str(outcome).endswith(f"{outcome.kills} kills, 0 lost, 0 stuck")
