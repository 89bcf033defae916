"""`python -m tools.soak --jobs N --clients C [--kill]`: nothing that was accepted may be lost."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from tools.client import ImageApi
from tools.demo.pictures import SAMPLE
from tools.local.errors import LocalStackError
from tools.local.interrupt import StopRequestedError, stop_on_signals
from tools.local.progress import to_terminal
from tools.local.stack import Stack, running_stack
from tools.soak.assassin import Assassin, kills_among
from tools.soak.photos import photos
from tools.soak.run import Outcome, Soak

_BASE_PATIENCE_SECONDS = 300.0
_PATIENCE_SECONDS_PER_JOB = 2.0
WORKER_OUTPUT = "ThumbnailWorkerFunctionName"


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        with stop_on_signals(), running_stack() as stack:
            outcome = _soak(stack, options)
    except LocalStackError as error:
        print(error, file=sys.stderr)
        return 1
    except StopRequestedError:
        print("Stopped.", file=sys.stderr)
        return 130
    print(outcome)
    return 0 if outcome.all_succeeded else 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--jobs", type=_positive, required=True, help="how many photos to send")
    parser.add_argument("--clients", type=_positive, required=True, help="how many clients send at once")
    parser.add_argument("--kill", action="store_true", help="kill worker processes meanwhile")
    parser.add_argument("--seed", type=int, help="repeat an earlier run's photos and rhythm of kills")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _soak(stack: Stack, options: argparse.Namespace) -> Outcome:
    seed = random.randrange(10**6) if options.seed is None else options.seed
    to_terminal(f"Sending {options.jobs} photos from {options.clients} clients (seed {seed}).")
    with ImageApi(stack.url, connections=options.clients) as api:
        soak = Soak(
            api,
            to_terminal,
            clients=options.clients,
            patience_seconds=_BASE_PATIENCE_SECONDS + _PATIENCE_SECONDS_PER_JOB * options.jobs,
        )
        pictures = photos(SAMPLE, options.jobs, seed)
        if not options.kill:
            return soak.run(pictures)
        function_name = stack.state.outputs[WORKER_OUTPUT]
        budget = kills_among(options.jobs)
        with Assassin(function_name, Path(stack.state.run), budget=budget, seed=seed) as assassin:
            outcome = soak.run(pictures)
        outcome.kills = assassin.kills
        return outcome


if __name__ == "__main__":
    sys.exit(main())
