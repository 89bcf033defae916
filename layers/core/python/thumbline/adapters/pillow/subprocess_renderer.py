"""The renderer that the worker uses: decoding happens in a reused, limited child process.

| what happens to the child                     | what the caller gets                     |
|-----------------------------------------------|------------------------------------------|
| it refuses the picture                        | PermanentError with the child's code     |
| it runs out of memory and says so             | PermanentError too_complex               |
| SIGXCPU: the picture's processor time is spent| PermanentError too_complex               |
| it crashes, and a fresh child crashes again   | PermanentError corrupt                   |
| no answer in time, processor time not spent   | TransientError render_timed_out          |
| it dies in any other way, or talks nonsense   | TransientError render_crashed            |

After every row but the first two the child is gone, and the next picture starts another.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import NoReturn, Self

from thumbline.adapters.pillow.child_process import ChildDiedError, ChildProcess, DeadlineError
from thumbline.adapters.pillow.protocol import (
    MAX_BODY_BYTES,
    Answer,
    ProtocolError,
    read_answer,
    request_parts,
)
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.presets import Preset, RenderLimits
from thumbline.ports.renderer import Rendering

_CRASHES = frozenset(
    {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV, -signal.SIGSYS}
)
"""Ends that a decoder brings about by itself. SIGKILL is not among them: that is the machine's doing."""


class SubprocessRenderer:
    """Implements `ports.renderer.Renderer`. Threads may share it; they render one at a time.

    The child is started by the first picture and ends with `close`, or when this process is gone.
    """

    def __init__(self, limits: RenderLimits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._child: ChildProcess | None = None
        self._child_is_fresh = False

    @property
    def child_process_id(self) -> int | None:
        """The running child's, if there is one."""
        child = self._child
        return child.process_id if child is not None else None

    def render(self, original: bytes, presets: Sequence[Preset], *, wall_seconds: float) -> Rendering:
        """Within the smaller of `wall_seconds` and the limit. Raises as the table above says."""
        if len(original) > MAX_BODY_BYTES:
            raise PermanentError(
                FailureCode.TOO_LARGE,
                f"The file has {len(original):,} bytes; at most {MAX_BODY_BYTES:,} are rendered.",
            )
        with self._lock:
            answer = self._answer(original, presets, min(wall_seconds, self._limits.wall_seconds))
        if answer.rendering is not None:
            return answer.rendering
        if answer.refusal is not None:
            raise answer.refusal
        raise _defect(answer.defect or "")

    def close(self) -> None:
        with self._lock:
            self._end_child(at_once=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, original: bytes, presets: Sequence[Preset], seconds: float) -> Answer:
        deadline = time.monotonic() + seconds
        parts = request_parts(original, presets)
        while True:
            child = self._running_child()
            was_fresh, self._child_is_fresh = self._child_is_fresh, False
            try:
                answer = read_answer(*child.exchange(parts, deadline))
            except BaseException as error:
                # Whatever interrupted the exchange, a half-read answer must never meet the next picture.
                self._end_child(at_once=True)
                if isinstance(error, ChildDiedError) and error.status in _CRASHES and not was_fresh:
                    # An earlier picture may have harmed that child; in a fresh one, only this one can.
                    continue
                self._explain(error, seconds)
            if answer.retiring:
                self._end_child(at_once=False)
            return answer

    def _running_child(self) -> ChildProcess:
        if self._child is not None and not self._child.is_alive():
            self._end_child(at_once=True)
        if self._child is None:
            try:
                self._child = ChildProcess(self._limits)
                self._child_is_fresh = True
            except OSError as error:
                detail = f"The rendering process could not be started ({error.strerror})."
                raise TransientError(FailureCode.RENDER_CRASHED, detail) from error
        return self._child

    def _end_child(self, *, at_once: bool) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end(at_once=at_once)

    def _explain(self, error: BaseException, seconds: float) -> NoReturn:
        if isinstance(error, ChildDiedError):
            if error.status == -signal.SIGXCPU:
                detail = (
                    f"Rendering this picture takes more than {self._limits.cpu_seconds} s of processor time."
                )
                raise PermanentError(FailureCode.TOO_COMPLEX, detail) from error
            if error.status in _CRASHES:
                detail = (
                    f"The picture crashes its decoder ({_ending(error.status)}) and is taken for damaged."
                )
                raise PermanentError(FailureCode.CORRUPT, detail) from error
            detail = f"The rendering process ended before it answered ({_ending(error.status)})."
            raise TransientError(FailureCode.RENDER_CRASHED, detail) from error
        if isinstance(error, DeadlineError):
            detail = f"Rendering did not finish within {seconds:g} s."
            raise TransientError(FailureCode.RENDER_TIMED_OUT, detail) from error
        if isinstance(error, ProtocolError):
            detail = "The rendering process gave an answer that could not be read."
            raise TransientError(FailureCode.RENDER_CRASHED, detail) from error
        raise error


def _defect(trace: str) -> TransientError:
    """One sentence for whoever reads the job, the child's whole traceback for whoever reads the log."""
    last_line = trace.strip().rpartition("\n")[2]
    error = TransientError(FailureCode.RENDER_CRASHED, f"The renderer failed unexpectedly ({last_line}).")
    error.add_note(trace)
    return error


def _ending(status: int) -> str:
    if status >= 0:
        return f"exit code {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
