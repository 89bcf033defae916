"""Limits that the child puts on itself. They hold on Linux.

macOS enforces the limit on processor time but not the one on memory: there the budget computed from the
header is the only bound.
"""

from __future__ import annotations

import resource
from math import ceil
from time import process_time

_STATUS = "/proc/self/status"
_NEAR = 0.875


def confine(memory_bytes: int) -> None:
    """Once, after the imports: no core dumps, no files written, address space up to `memory_bytes`."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_AS, memory_bytes)


def allow_cpu_seconds(seconds: int) -> None:
    """Before each picture: the kernel counts the process's whole life, and sends SIGXCPU past the limit."""
    _lower(resource.RLIMIT_CPU, ceil(process_time()) + seconds)


def near_memory_limit(memory_bytes: int) -> bool:
    """Whether this process has ever come close to `memory_bytes` of address space."""
    try:
        with open(_STATUS, encoding="ascii", errors="replace") as status:
            peaks_kilobytes = [int(line.split()[1]) for line in status if line.startswith("VmPeak:")]
    except OSError:
        return False
    return max(peaks_kilobytes, default=0) * 1024 > _NEAR * memory_bytes


def _lower(kind: int, soft: int) -> None:
    """Sets the soft limit and leaves the hard one, so that the next picture's can be raised again."""
    _, hard = resource.getrlimit(kind)
    wanted = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
    try:
        resource.setrlimit(kind, (wanted, hard))
    except (ValueError, OSError):
        # The platform does not know this limit.
        return
