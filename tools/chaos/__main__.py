"""`make chaos SEEDS= JOBS= SEED0=`: one line a seed, one that replays each failing seed, and the sum."""

from __future__ import annotations

import argparse
import sys

from tools.chaos.run import Run, run_seed


def main() -> int:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--seeds", type=_positive, default=40)
    parser.add_argument("--jobs", type=_positive, default=200)
    parser.add_argument("--seed0", type=int, default=0)
    options = parser.parse_args()
    runs: list[Run] = []
    for seed in range(options.seed0, options.seed0 + options.seeds):
        run = run_seed(seed, options.jobs)
        runs.append(run)
        _tell(run)
    print(
        f"chaos: {len(runs)} seeds, {sum(run.accepted for run in runs)} accepted, "
        f"{sum(run.succeeded for run in runs)} succeeded, {sum(run.failed for run in runs)} failed, "
        f"{sum(run.lost for run in runs)} lost, {sum(run.stuck for run in runs)} stuck, "
        f"{sum(len(run.violations) for run in runs)} violations"
    )
    return 0 if all(run.is_good for run in runs) else 1


def _positive(text: str) -> int:
    """A run of nothing would pass and show nothing."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _tell(run: Run) -> None:
    print(
        f"seed {run.seed}: {run.accepted} accepted, {run.succeeded} succeeded, {run.failed} failed "
        f"({run.deleted} deleted), {run.absorbed} duplicates absorbed, {run.rescued} rescued; "
        f"{run.faults} faults, {run.kills} kills, {run.freezes} freezes; "
        f"settled {run.settled_seconds:.0f} s after the faults",
        flush=True,
    )
    for violation in run.violations[:5]:
        print(f"  violated {violation}")
    if not run.is_good:
        print(f"  {run.lost} lost, {run.stuck} stuck; replay: {run.replay}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
