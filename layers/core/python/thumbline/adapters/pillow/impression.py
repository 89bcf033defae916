"""What a page can show of a picture before the thumbnail has come: its main colour, and a blur of it."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter

from PIL import Image

from thumbline.adapters.pillow.thumbhash import thumbhash

IMPRESSION_SIDE = 32
"""Pixels of the longer side that both are computed from: ThumbHash keeps seven waves a side at most."""

_VISIBLE = 128
_BIN_SHIFT = 5
"""Colours that agree in their three highest bits a band are counted together."""


def dominant_colour(picture: Image.Image) -> str:
    """The mean of the most frequent group of visible colours, as `#rrggbb`; of all, where none is visible."""
    raw = picture.convert("RGBA").tobytes()
    pixels = [raw[start : start + 4] for start in range(0, len(raw), 4)]
    visible = [pixel for pixel in pixels if pixel[3] >= _VISIBLE] or pixels
    groups = Counter(_group(pixel) for pixel in visible)
    # Of equals, the first in order: the answer must not depend on chance.
    largest = min(groups, key=lambda group: (-groups[group], group))
    members = [pixel for pixel in visible if _group(pixel) == largest]
    red, green, blue = (round(sum(pixel[band] for pixel in members) / len(members)) for band in range(3))
    return f"#{red:02x}{green:02x}{blue:02x}"


def placeholder(picture: Image.Image) -> str:
    """The ThumbHash in base 64."""
    return b64encode(thumbhash(picture.width, picture.height, picture.convert("RGBA").tobytes())).decode()


def _group(pixel: bytes) -> tuple[int, int, int]:
    return pixel[0] >> _BIN_SHIFT, pixel[1] >> _BIN_SHIFT, pixel[2] >> _BIN_SHIFT
