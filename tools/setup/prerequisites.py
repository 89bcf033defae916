"""The tools that set-up cannot bring itself: a Python, Node and npm. Each is tested by running it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from tools.setup.commands import clean_environment
from tools.setup.errors import MissingToolsError

MINIMUM_PYTHON = (3, 11)
MINIMUM_NODE_MAJOR = 20
# The first is Lambda's runtime; `python3` is last, because it may be newer than what the locks were tried on.
PYTHON_CANDIDATES = ("python3.13", "python3.12", "python3.11", "python3")

_PROBE_SECONDS = 60
_PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
_PROBE_WITH_VENV = f"import venv, ensurepip, ssl; {_PROBE}"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that runs. `minor_version` is such as "3.13": wheels depend on no more than that."""

    command: str
    version: str

    @property
    def minor_version(self) -> str:
        return ".".join(self.version.split(".")[:2])


def running_interpreter(command: str) -> Interpreter | None:
    """The interpreter at `command`, or None where it cannot be run."""
    version = _output([command, "-I", "-S", "-c", _PROBE])
    return Interpreter(command, version) if version else None


def find_python(requested: str | None) -> Interpreter:
    """The Python to build the environments with: `requested` alone where given, else the first that works.

    Raises MissingToolsError, which tells for each candidate that exists what is wrong with it.
    """
    faults: list[str] = []
    for command in [requested] if requested else PYTHON_CANDIDATES:
        usable = _usable_python(command, faults)
        if usable:
            return usable
    found = f" ({'; '.join(faults)})" if faults else ""
    raise MissingToolsError(
        f"no usable Python {'.'.join(map(str, MINIMUM_PYTHON))} or newer{found}; "
        "install python3 and python3-venv, or name another with PYTHON=/path/to/python3"
    )


def _usable_python(command: str, faults: list[str]) -> Interpreter | None:
    plain = running_interpreter(command)
    if plain is None:
        faults.append(f"{command} is missing or does not run")
        return None
    if tuple(map(int, plain.version.split(".")))[:2] < MINIMUM_PYTHON:
        faults.append(f"{command} is {plain.version}")
        return None
    if not _output([command, "-I", "-c", _PROBE_WITH_VENV]):
        faults.append(f"{command} lacks venv, ensurepip or ssl: install python{plain.minor_version}-venv")
        return None
    return plain


def check_node() -> str:
    """Node's version, such as "20.20.2". Raises MissingToolsError."""
    text = _output(["node", "--version"])
    if not text:
        raise MissingToolsError(
            f"node is missing or does not run; install Node.js {MINIMUM_NODE_MAJOR} or newer (Debian: nodejs)"
        )
    match = re.fullmatch(r"v(\d+)\..*", text)
    if not match or int(match[1]) < MINIMUM_NODE_MAJOR:
        raise MissingToolsError(f"node is {text}; install Node.js {MINIMUM_NODE_MAJOR} or newer")
    return text.removeprefix("v")


def check_npm() -> None:
    """Raises MissingToolsError where npm is missing or broken."""
    if not _output(["npm", "--version"]):
        raise MissingToolsError("npm is missing or does not run; install it (Debian: npm)")


def _output(command: Sequence[str]) -> str | None:
    """What a probe prints, stripped; None where it cannot be started, fails, hangs or prints nothing."""
    try:
        finished = subprocess.run(
            command,
            env=clean_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return finished.stdout.strip() or None if finished.returncode == 0 else None
