"""`python -m tools.fuzz_api --cases N`: whatever is sent, the answer is one that the description has."""

from __future__ import annotations

import argparse
import random
import sys

from tools.fuzz_api.run import fuzz, run_schemathesis
from tools.local.errors import LocalStackError
from tools.local.interrupt import StopRequestedError, stop_on_signals
from tools.local.progress import to_terminal
from tools.local.stack import running_stack


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz_api", description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000, help="how many to send at least (%(default)s)")
    parser.add_argument("--seed", type=int, help="repeat an earlier run")
    options = parser.parse_args(arguments)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    try:
        with stop_on_signals(), running_stack() as stack:
            to_terminal(f"Sending at least {options.cases:,} cases to {stack.url} (seed {seed}).")
            outcome = fuzz(stack.url, options.cases, seed, run_schemathesis)
    except LocalStackError as error:
        print(error, file=sys.stderr)
        return 1
    except StopRequestedError:
        print("Stopped.", file=sys.stderr)
        return 130
    if outcome.failed is not None:
        print(outcome.failed.output)
    print(outcome)
    return 0 if outcome.failed is None else 1


if __name__ == "__main__":
    sys.exit(main())
