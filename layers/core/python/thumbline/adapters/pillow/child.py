"""The child's half: a loop that renders one picture after another until its standard input ends.

It owns nothing worth stealing: an empty environment, no files, limited memory and processor time.
"""

from __future__ import annotations

import json
import os
import signal
import traceback
from io import BufferedReader, BufferedWriter

from thumbline.adapters.pillow import sandbox
from thumbline.adapters.pillow.decode import limit_pixels
from thumbline.adapters.pillow.protocol import LENGTHS, Answer, answer_parts, lengths, read_request
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.presets import RenderLimits


def main(limits_record: str) -> None:
    """`limits_record`: RenderLimits as JSON. Returns when the parent closes its end, or is gone."""
    # Ctrl-C reaches the whole process group; the parent decides when the child ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _private_channel()
    limits = RenderLimits(**json.loads(limits_record))
    limit_pixels(limits.max_pixels)
    sandbox.confine(limits.memory_bytes)
    try:
        _serve(requests, answers, limits)
    except BrokenPipeError:
        return


def _private_channel() -> tuple[BufferedReader, BufferedWriter]:
    """Moves the pipes off descriptors 0 and 1, so that nothing a library prints can enter the protocol."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb"), os.fdopen(answers, "wb")


def _serve(requests: BufferedReader, answers: BufferedWriter, limits: RenderLimits) -> None:
    while len(prefix := requests.read(LENGTHS.size)) == LENGTHS.size:
        header_bytes, body_bytes = lengths(prefix)
        header, original = requests.read(header_bytes), requests.read(body_bytes)
        if len(original) < body_bytes:
            return
        sandbox.allow_cpu_seconds(limits.cpu_seconds)
        answer = _answer(header, original, limits)
        for part in answer_parts(answer):
            answers.write(part)
        answers.flush()
        if answer.retiring:
            return


def _answer(header: bytes, original: bytes, limits: RenderLimits) -> Answer:
    try:
        answer = Answer(rendering=render(original, read_request(header), limits))
    except PermanentError as refusal:
        answer = Answer(refusal=refusal)
    except MemoryError:
        detail = f"Rendering this picture needs more memory than {limits.memory_bytes >> 20} MiB, the limit."
        answer = Answer(refusal=PermanentError(FailureCode.TOO_COMPLEX, detail))
    except Exception:
        # Our own defect, not the picture's verdict. The trace travels to the parent: where standard error
        # is a file, the limit on written files silences this process.
        answer = Answer(defect=traceback.format_exc())
    if answer.defect is None and not sandbox.near_memory_limit(limits.memory_bytes):
        return answer
    # A process that defects, or that memory nearly ran out in, is not trusted with another picture.
    return Answer(answer.rendering, answer.refusal, answer.defect, retiring=True)
