"""`python -m tools.local up` runs the stack until Ctrl-C; `python -m tools.local url` prints its base URL."""

from __future__ import annotations

import argparse
import sys
import time

from tools.local.errors import LocalStackError
from tools.local.front import DOCS_PATH, STAGE_PATH
from tools.local.identity import chosen_identity
from tools.local.interrupt import StopRequestedError, stop_on_signals
from tools.local.paths import Paths
from tools.local.stack import Stack, started_stack
from tools.local.state import ready_state

_WATCH_SECONDS = 0.5


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start the local stack and keep it running until Ctrl-C")
    commands.add_parser("url", help="print the base URL of the stack that runs; fail while none is ready")
    command = parser.parse_args(arguments).command
    try:
        return _up() if command == "up" else _url()
    except LocalStackError as error:
        print(f"{error}", file=sys.stderr)
        return 1


def _up() -> int:
    try:
        with stop_on_signals(), started_stack(Paths.default(chosen_identity())) as stack:
            print(_welcome(stack), flush=True)
            while True:
                stack.check_alive()
                time.sleep(_WATCH_SECONDS)
    except StopRequestedError:
        print("Stopped.", flush=True)
        return 0


def _url() -> int:
    print(ready_state(Paths.default().state_file).url)
    return 0


def _welcome(stack: Stack) -> str:
    return f"""
API  {stack.url}
docs {stack.url.removesuffix(STAGE_PATH)}{DOCS_PATH}

  # accept a picture: 202 with a Location
  curl -i --data-binary @samples/photo.jpg -H 'Content-Type: image/jpeg' \\
       -H "Idempotency-Key: $(date +%s)" {stack.url}/images
  # follow the job (its id is in the answer above)
  curl -s {stack.url}/jobs/JOB_ID
  # fetch the thumbnail once the job has SUCCEEDED
  curl -sL -o thumbnail.jpg {stack.url}/images/JOB_ID/thumbnail

Ctrl-C stops the stack and removes what it made."""


if __name__ == "__main__":
    sys.exit(main())
