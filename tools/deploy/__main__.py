"""`python -m tools.deploy up|down STAGE`."""

from __future__ import annotations

import argparse
import sys

from tools.deploy.down import destroy
from tools.deploy.errors import DeployError
from tools.deploy.up import deploy


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.deploy", description=__doc__)
    parser.add_argument("command", choices=["up", "down"])
    parser.add_argument("stage")
    chosen = parser.parse_args(arguments)
    try:
        (deploy if chosen.command == "up" else destroy)(chosen.stage)
    except DeployError as error:
        print(error, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("\nStopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
