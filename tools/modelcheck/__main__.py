"""`python -m tools.modelcheck [--sizes ci]`: search the protocol, one configuration after the other."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tools.modelcheck.configuration import CI, THOROUGH
from tools.modelcheck.run import run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="modelcheck", description="Search the job protocol for violations.")
    parser.add_argument(
        "--ci", action="store_true", help="only the configurations that the tests search (about a minute)"
    )
    options = parser.parse_args(arguments)
    return run(CI if options.ci else THOROUGH, sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
