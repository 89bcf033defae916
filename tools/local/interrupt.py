"""Ctrl-C and SIGTERM as one exception, raised once: whoever stops must be able to clean up undisturbed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequestedError(BaseException):
    """The person, or whoever manages this process, asked it to stop.

    A BaseException like KeyboardInterrupt, so that no handler for failures takes it for one.
    """


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """The first SIGINT, SIGTERM or SIGHUP in the block raises StopRequestedError; later ones are ignored."""
    previous = {number: signal.signal(number, _stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _stop(_number: int, _frame: FrameType | None) -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise StopRequestedError
