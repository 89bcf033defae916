"""Is what a job's link serves the thumbnail that it owes?"""

from __future__ import annotations

import io

from PIL import Image

from tools.client import ImageApi

_SIZE_TOLERANCE_PIXELS = 1
"""Renderers round the shorter edge in their own ways."""


class BadThumbnailError(Exception):
    """A job SUCCEEDED, but what its link serves is not the thumbnail that it owes."""


def check_thumbnail(api: ImageApi, url: str, expected: tuple[int, int]) -> bytes:
    """The thumbnail. Raises BadThumbnailError unless it is a whole picture of the expected size in pixels."""
    answer = api.fetch(url)
    if answer.status != 200:
        raise BadThumbnailError(f"the thumbnail's link answered {answer.problem or answer.status}")
    try:
        with Image.open(io.BytesIO(answer.body)) as thumbnail:
            thumbnail.load()
            size = thumbnail.size
    except OSError as error:
        raise BadThumbnailError(f"the thumbnail does not decode: {error}") from error
    if any(abs(is_ - should) > _SIZE_TOLERANCE_PIXELS for is_, should in zip(size, expected, strict=True)):
        raise BadThumbnailError(f"the thumbnail is {size[0]}x{size[1]}, not {expected[0]}x{expected[1]}")
    return answer.body
