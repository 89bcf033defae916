"""Processes by identity: a pid alone may belong to a stranger by the time that we want to stop it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """`started` is the kernel's start time as text, only ever compared; `command` is the argument vector."""

    pid: int
    started: str
    command: tuple[str, ...]

    def is_alive(self) -> bool:
        """Whether this very process still runs, and not another one that inherited its number."""
        return identify(self.pid) == self


def identify(pid: int) -> ProcessIdentity | None:
    """The process with this pid; None when there is none, or only a zombie."""
    return _identify_by_proc(pid) if _PROC.joinpath("self").exists() else _identify_by_ps(pid)


def identify_child(child: subprocess.Popen[bytes]) -> ProcessIdentity:
    """Who was just started. For a moment after exec the kernel shows no command yet.

    A child that has ended already is known by its pid alone, which no process matches.
    """
    while (identity := identify(child.pid)) is None:
        if child.poll() is not None:
            return ProcessIdentity(child.pid, "", ())
        time.sleep(_POLL_SECONDS)
    return identity


def every_process() -> Iterable[ProcessIdentity]:
    for pid in _every_pid():
        if (process := identify(pid)) is not None:
            yield process


def python_processes_under(folder: Path) -> list[ProcessIdentity]:
    """Interpreters that run a script below `folder`: the emulator's workers and what they started."""
    prefix = f"{folder}{os.sep}"
    return [
        process
        for process in every_process()
        if Path(process.command[0]).name.startswith("python")
        and any(argument.startswith(prefix) for argument in process.command[1:])
    ]


def kill_group(leader: ProcessIdentity) -> None:
    """Ends the process group that `leader` leads, if it is still that process."""
    if leader.is_alive():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader.pid, signal.SIGKILL)
        wait_until_gone([leader], seconds=5.0)


def kill(process: ProcessIdentity) -> bool:
    """SIGKILL to that one process; False when it was gone already."""
    if not process.is_alive():
        return False
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(processes: Iterable[ProcessIdentity], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    waiting = list(processes)
    while waiting and time.monotonic() < deadline:
        waiting = [process for process in waiting if process.is_alive()]
        time.sleep(_POLL_SECONDS if waiting else 0)


def _identify_by_proc(pid: int) -> ProcessIdentity | None:
    folder = _PROC / str(pid)
    try:
        # The second field is the program's name in brackets and may itself hold spaces and brackets.
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        command = (folder / "cmdline").read_bytes()
    except OSError:
        return None
    state, started = fields[0], fields[19]
    arguments = tuple(part.decode(errors="surrogateescape") for part in command.rstrip(b"\0").split(b"\0"))
    if state == "Z" or not command:
        return None
    return ProcessIdentity(pid, started, arguments)


def _identify_by_ps(pid: int) -> ProcessIdentity | None:
    listing = _ps("-o", "stat=,lstart=,command=", "-ww", "-p", str(pid))
    # stat, five words of date and time, then the command.
    words = listing.split(None, 6)
    if len(words) < 7 or words[0].startswith("Z"):
        return None
    return ProcessIdentity(pid, " ".join(words[1:6]), tuple(words[6].split()))


def _every_pid() -> list[int]:
    if _PROC.joinpath("self").exists():
        return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return [int(word) for word in _ps("-A", "-o", "pid=").split()]


def _ps(*arguments: str) -> str:
    return subprocess.run(["ps", *arguments], capture_output=True, text=True, check=False).stdout
