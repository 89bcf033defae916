"""Runs schemathesis until it has sent as many cases as were asked for."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.local.environment import clean_environment

_FOLDER = Path(__file__).resolve().parent
_ROOT = _FOLDER.parents[1]
_PROGRAM = _ROOT / ".venv-api" / "bin" / "schemathesis"
_DESCRIPTION = _ROOT / "docs" / "openapi.json"
_GENERATED = re.compile(r"^\s+([0-9]+) generated", re.MULTILINE)
EXAMPLES_PER_OPERATION = 25
"""In each run: a run also walks links from answer to answer, and more of them would take turns too long."""

Runner = Callable[[str, int], "Run"]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of schemathesis: how many requests it made up, and what it printed."""

    cases: int
    passed: bool
    output: str


@dataclass(frozen=True, slots=True)
class Outcome:
    cases: int
    failed: Run | None

    def __str__(self) -> str:
        return f"fuzz-api: {self.cases:,} cases, {'no failure' if self.failed is None else 'FAILED'}"


def fuzz(url: str, cases: int, seed: int, run: Runner) -> Outcome:
    """Run after run, each with the next seed, until enough cases were sent or one has failed."""
    sent = 0
    for once in _runs(url, seed, run):
        sent += once.cases
        if not once.passed:
            return Outcome(sent, once)
        if sent >= cases:
            break
    return Outcome(sent, None)


def _runs(url: str, seed: int, run: Runner) -> Iterator[Run]:
    while True:
        yield run(url, seed)
        seed += 1


def run_schemathesis(url: str, seed: int) -> Run:
    """Positive and negative data: what the description allows, and what it forbids."""
    command: list[str | Path] = [
        *(_PROGRAM, "--config-file", _FOLDER / "schemathesis.toml", "run", _DESCRIPTION, "--url", url),
        *("--max-examples", str(EXAMPLES_PER_OPERATION), "--seed", str(seed), "--no-color"),
        *("--mode", "all", "--generation-database", "none", "--suppress-health-check", "all"),
    ]
    # Its notes about earlier runs would steer the next ones.
    with tempfile.TemporaryDirectory(prefix="thumbline-fuzz-") as folder:
        done = subprocess.run(
            command,
            cwd=folder,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    counted = _GENERATED.search(done.stdout)
    cases = int(counted[1]) if counted else 0
    # A run that sent nothing has shown nothing.
    return Run(cases, done.returncode == 0 and cases > 0, done.stdout)
