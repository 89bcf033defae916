"""`python -m tools.smoke URL [IMAGE ...]`: the demo's job on a stage that is deployed already."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import boto3

from tools.demo.pictures import chosen_paths
from tools.demo.run import Demo
from tools.smoke.callers import SmokeError, api_at

OUT = Path("out")
TOKEN_VARIABLE = "THUMBLINE_TOKEN"
"""A secret: it comes by the environment, which no process list shows."""


def main(arguments: list[str]) -> int:
    if not arguments or not arguments[0]:
        print("Which stage? Give its base URL: make smoke URL=https://….amazonaws.com/v1", file=sys.stderr)
        return 2
    url, *names = arguments
    try:
        api = api_at(url, boto3.Session(), os.environ.get(TOKEN_VARIABLE, ""))
    except SmokeError as error:
        print(error, file=sys.stderr)
        return 1
    with api:
        demo = Demo(api, OUT, print)
        for path in chosen_paths(names, os.environ):
            demo.show(path)
    print(f"\n{demo.tally}")
    return 0 if demo.tally.all_succeeded else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
