"""Stopped processes: what they have done can be looked at before it is decided whether they go on."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tools.local.processes import ProcessIdentity, kill


@contextmanager
def frozen(processes: Sequence[ProcessIdentity]) -> Iterator[None]:
    """They stand still in the block, by SIGSTOP, and go on after it unless they were killed."""
    try:
        for process in processes:
            _send(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            _send(process, signal.SIGCONT)


def kill_all(processes: Sequence[ProcessIdentity]) -> int:
    """How many of them were still there. SIGKILL also ends a process that is stopped."""
    return sum([kill(process) for process in processes])


def _send(process: ProcessIdentity, number: signal.Signals) -> None:
    if process.is_alive():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
