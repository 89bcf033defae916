"""`python -m tools.chaos_local --jobs N`: nothing that was accepted is lost or stuck, whoever is killed."""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import replace

from tools.chaos_local.run import Plan, run
from tools.local.errors import LocalStackError
from tools.local.interrupt import StopRequestedError, stop_on_signals
from tools.local.paths import Paths
from tools.local.progress import to_terminal
from tools.local.stack import running_stack
from tools.operator.errors import OperatorError


def main(arguments: list[str] | None = None) -> int:
    plan = _parse(arguments)
    # A stack of its own: who works with `make local` meanwhile must not lose processes.
    default = Paths.default()
    paths = replace(default, state=default.state / "chaos")
    try:
        with stop_on_signals(), running_stack(paths, reuse=False, any_port=True) as stack:
            to_terminal(f"Sending {plan.jobs} pictures from {plan.clients} clients (seed {plan.seed}).")
            outcome = run(stack.state, plan, to_terminal)
    except (LocalStackError, OperatorError) as error:
        print(error, file=sys.stderr)
        return 1
    except StopRequestedError:
        print("Stopped.", file=sys.stderr)
        return 130
    print(outcome)
    return 0 if outcome.all_is_well else 1


def _parse(arguments: list[str] | None) -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tools.chaos_local", description=__doc__)
    parser.add_argument("--jobs", type=_positive, default=300, help="how many pictures to send (%(default)s)")
    parser.add_argument("--clients", type=_positive, default=8, help="how many clients send (%(default)s)")
    parser.add_argument("--seed", type=int, help="repeat an earlier run's pictures and rhythm of kills")
    options = parser.parse_args(arguments)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    return Plan(jobs=options.jobs, clients=options.clients, seed=seed)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
