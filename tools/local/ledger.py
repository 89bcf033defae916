"""The run directory: one stack's temporary files and the record of every process group that it started.

The record is written before a process can do anything, so that after a crash of ours (SIGKILL, power, panic
of the terminal) the next start knows exactly what to end, and ends nothing else.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from tools.local.errors import AlreadyRunningError, LocalStackError
from tools.local.paths import Paths
from tools.local.processes import (
    ProcessIdentity,
    identify_child,
    kill,
    kill_group,
    python_processes_under,
    wait_until_gone,
)

_RECORD = "processes.jsonl"


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Holds `lock` for the duration; the kernel lets go of it however we end.

    Raises AlreadyRunningError when another process holds it.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunningError("A local stack is already running here.") from error
        yield


class Ledger:
    """Starts processes in groups of their own and can end them all, now or after a crash."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._record = paths.run / _RECORD

    def open(self) -> None:
        """Ends and removes what an earlier run left behind, then makes an empty run directory."""
        self.close()
        self._paths.emulator_temporary.mkdir(parents=True)
        self._paths.logs.mkdir(parents=True, exist_ok=True)

    def close(self) -> None:
        """Ends every recorded group that is still ours and its last workers; removes the directory."""
        for process in self._recorded():
            kill_group(process)
        orphans = python_processes_under(self._paths.emulator_temporary)
        wait_until_gone([process for process in orphans if kill(process)], seconds=5.0)
        shutil.rmtree(self._paths.run, ignore_errors=True)

    def start(
        self, command: Sequence[str], *, log: Path, environment: Mapping[str, str], folder: Path
    ) -> subprocess.Popen[bytes]:
        """A process that leads its own group, its output in `log`. Raises LocalStackError."""
        with log.open("wb") as output:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=dict(environment),
                    cwd=folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise LocalStackError(f"{command[0]} cannot be started: {error.strerror}.") from error
        self._append(identify_child(process))
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Ends the group of a process that this ledger started, unless it has ended by itself."""
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _append(self, identity: ProcessIdentity) -> None:
        with self._record.open("a") as record:
            record.write(json.dumps(asdict(identity)) + "\n")
            record.flush()
            os.fsync(record.fileno())

    def _recorded(self) -> list[ProcessIdentity]:
        if not self._record.exists():
            return []
        return [_parse(line) for line in self._record.read_text().splitlines() if line.endswith("}")]


def _parse(line: str) -> ProcessIdentity:
    entry = json.loads(line)
    return ProcessIdentity(int(entry["pid"]), str(entry["started"]), tuple(entry["command"]))
