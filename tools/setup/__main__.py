"""`python -m tools.setup`: makes what is missing or out of date, and reports on stderr."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tools.setup import environments
from tools.setup.commands import say
from tools.setup.errors import MissingToolsError, SetupError
from tools.setup.operator_command import install_operator_command
from tools.setup.prerequisites import check_node, check_npm, find_python

_ROOT = Path(__file__).resolve().parents[2]
_LOCK_FILE = ".setup.lock"

Found = TypeVar("Found")


def set_up(root: Path, requested_python: str | None) -> None:
    """Brings all folders up to date. Raises SetupError; missing tools are named before anything is made."""
    with _alone(root):
        faults: list[str] = []
        python = environments.ready_environment(root, requested_python)
        chosen = python or _look(lambda: find_python(requested_python), faults)
        node_version = _look(check_node, faults)
        modules_finished = environments.node_modules_finished(root)
        if not modules_finished:
            _look(check_npm, faults)
        if faults or chosen is None:
            raise MissingToolsError("\n".join(faults))
        if python is None:
            python = environments.make_environment(root, chosen)
        install_operator_command(root)
        environments.make_emulator_environment(root, python)
        environments.make_api_environment(root, python)
        if not modules_finished:
            environments.make_node_modules(root)
    say(f"ready (Python {python.version}, Node {node_version})")


def _look(find: Callable[[], Found], faults: list[str]) -> Found | None:
    try:
        return find()
    except MissingToolsError as error:
        faults.append(str(error))
        return None


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Keeps two set-ups of one folder apart; the kernel drops the lock when its holder dies."""
    with (root / _LOCK_FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this folder")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    try:
        set_up(_ROOT, os.environ.get("PYTHON") or None)
    except SetupError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"{error.filename or 'a file'}: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next run starts again where this one was")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
