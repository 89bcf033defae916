"""The child as the parent sees it: start it, exchange one message, end it, each within a deadline."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from math import ceil
from typing import IO

from thumbline.adapters.pillow.protocol import LENGTHS, lengths
from thumbline.domain.presets import RenderLimits

_BOOTSTRAP = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from thumbline.adapters.pillow.child import main; main(sys.argv[2])"
)
_PASSED_ON = ("LD_LIBRARY_PATH",)
"""What an interpreter may need to start, in Lambda's runtime for one. Never credentials."""
_CHUNK_BYTES = 1 << 20
_ENDING_SECONDS = 2.0


class ChildDiedError(Exception):
    """The child ended without an answer. `status`: its exit code, or minus the number of the signal."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the rendering process ended with status {status}")
        self.status = status


class DeadlineError(Exception):
    """No complete answer came in time."""


class ChildProcess:
    """One running child. Not thread-safe; whoever holds it must `end` it."""

    def __init__(self, limits: RenderLimits) -> None:
        """Raises OSError if no process can be started."""
        search_path = json.dumps([entry for entry in sys.path if os.path.isabs(entry)])
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOTSTRAP, search_path, json.dumps(asdict(limits))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            bufsize=0,
        )
        self._requests, self._answers = _pipe(self._process.stdin), _pipe(self._process.stdout)
        os.set_blocking(self._requests.fileno(), False)
        os.set_blocking(self._answers.fileno(), False)

    @property
    def process_id(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def exchange(self, parts: Sequence[bytes], deadline: float) -> tuple[bytes, bytes]:
        """Sends a message and returns the answer's header and body; `deadline` as `time.monotonic` counts.

        Raises ChildDiedError, DeadlineError, or ProtocolError; after each, the child must be ended.
        """
        for part in parts:
            self._send(part, deadline)
        header_bytes, body_bytes = lengths(self._receive(LENGTHS.size, deadline))
        return self._receive(header_bytes, deadline), self._receive(body_bytes, deadline)

    def end(self, *, at_once: bool) -> int:
        """Ends the child and leaves neither a zombie nor a descriptor. Returns its status."""
        if at_once:
            self._process.kill()
        self._requests.close()
        try:
            status = self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._answers.close()
        return status

    def _send(self, part: bytes, deadline: float) -> None:
        pending = memoryview(part)
        while pending:
            self._await(self._requests, select.POLLOUT, deadline)
            try:
                pending = pending[os.write(self._requests.fileno(), pending[:_CHUNK_BYTES]) :]
            except BrokenPipeError:
                raise ChildDiedError(self.end(at_once=False)) from None
            except BlockingIOError:
                continue

    def _receive(self, wanted_bytes: int, deadline: float) -> bytes:
        received = bytearray()
        while len(received) < wanted_bytes:
            self._await(self._answers, select.POLLIN, deadline)
            piece = os.read(self._answers.fileno(), min(_CHUNK_BYTES, wanted_bytes - len(received)))
            if not piece:
                raise ChildDiedError(self.end(at_once=False))
            received += piece
        return bytes(received)

    def _await(self, pipe: IO[bytes], event: int, deadline: float) -> None:
        # poll, not select: select fails for descriptors above 1,023.
        poller = select.poll()
        poller.register(pipe, event)
        while not poller.poll(max(0, ceil((deadline - time.monotonic()) * 1000))):
            if time.monotonic() >= deadline:
                raise DeadlineError


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
