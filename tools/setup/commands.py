"""Running other programs quietly: what they print is shown only when they fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.setup.errors import CommandFailedError

_SHOWN_LINES = 15
# These steer an interpreter away from the environment that it belongs to.
_MISLEADING_VARIABLES = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"})


def say(message: str) -> None:
    """Prints progress, line by line. On stderr: `make local-url` owns stdout."""
    for line in message.splitlines():
        print(f"setup: {line}", file=sys.stderr, flush=True)


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in _MISLEADING_VARIABLES}


def run(command: Sequence[str | Path], *, action: str, folder: Path) -> None:
    """Runs `command` in `folder`. Raises CommandFailedError with `action` and the output's end."""
    words = [str(word) for word in command]
    try:
        finished = subprocess.run(
            words,
            cwd=folder,
            env=clean_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise CommandFailedError(f"{action} failed: {words[0]} cannot be run ({error.strerror})") from error
    if finished.returncode != 0:
        ending = "\n".join(f"  | {line}" for line in finished.stdout.strip().splitlines()[-_SHOWN_LINES:])
        raise CommandFailedError(f"{action} failed with exit status {finished.returncode}\n{ending}".rstrip())
