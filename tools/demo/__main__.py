"""`python -m tools.demo [IMAGE ...]`: sends pictures through the running local stack, or one of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tools.client import ImageApi
from tools.demo.pictures import chosen_paths
from tools.demo.run import Demo
from tools.local.errors import LocalStackError
from tools.local.interrupt import StopRequestedError, stop_on_signals
from tools.local.progress import to_terminal
from tools.local.stack import running_stack

OUT = Path("out")


def main(arguments: list[str]) -> int:
    paths = chosen_paths(arguments, os.environ)
    try:
        with stop_on_signals(), running_stack() as stack, ImageApi(stack.url) as api:
            demo = Demo(api, OUT, to_terminal)
            for path in paths:
                demo.show(path)
    except LocalStackError as error:
        print(error, file=sys.stderr)
        return 1
    except StopRequestedError:
        print("Stopped.", file=sys.stderr)
        return 130
    print(f"\n{demo.tally}")
    return 0 if demo.tally.all_succeeded else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
