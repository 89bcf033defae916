"""A client as it should be: it repeats what it does not know with the same key, and waits as it is told."""

from __future__ import annotations

import time
from collections.abc import Callable

from tools.client import Answer, ImageApi, NoAnswerError

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 8.0


class RefusedError(Exception):
    """The API refused the picture for good, or gave no answer until patience ran out."""


def deliver(
    api: ImageApi,
    picture: bytes,
    *,
    key: str,
    content_type: str,
    patience_seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """The 202 for this picture, however often it had to be sent. Raises RefusedError."""
    began = clock()
    wait_seconds = _FIRST_WAIT_SECONDS
    while True:
        answer, fault = _send(api, picture, key, content_type)
        if answer is not None and answer.status == 202:
            return answer
        if answer is not None and answer.status not in (429, *range(500, 600)):
            raise RefusedError(fault)
        if clock() - began >= patience_seconds:
            raise RefusedError(f"{fault}, and patience of {patience_seconds:.0f} s ran out")
        asked_seconds = answer.retry_after_seconds if answer is not None else None
        sleep(wait_seconds if asked_seconds is None else asked_seconds)
        wait_seconds = min(2 * wait_seconds, _LONGEST_WAIT_SECONDS)


def _send(api: ImageApi, picture: bytes, key: str, content_type: str) -> tuple[Answer | None, str]:
    try:
        answer = api.post_image(picture, key=key, content_type=content_type)
    except NoAnswerError as error:
        return None, str(error)
    return answer, str(answer.problem or f"{answer.status}: {answer.text[:200]}")
