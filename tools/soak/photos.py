"""Photos of different sizes, made from the sample: the same seed makes the same photos."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from thumbline.domain.presets import DEFAULT_PRESET

_FORMATS = (("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp"))
_SHORTEST_EDGE_PIXELS, _LONGEST_EDGE_PIXELS = 200, 1600


@dataclass(frozen=True, slots=True)
class Photo:
    """One picture to send, and the size in pixels that its thumbnail must have."""

    content: bytes
    content_type: str
    thumbnail_size: tuple[int, int]


def photos(sample: Path, count: int, seed: int) -> Iterator[Photo]:
    """The sample itself, then `count - 1` variants in other sizes, formats and colour casts."""
    original = sample.read_bytes()
    with Image.open(io.BytesIO(original)) as opened:
        picture = opened.convert("RGB")
    if count:
        yield Photo(original, "image/jpeg", thumbnail_size(picture.size))
    chance = random.Random(seed)
    for _ in range(count - 1):
        yield _variant(picture, chance)


def thumbnail_size(size: tuple[int, int]) -> tuple[int, int]:
    """What fits inside the default preset's box without enlarging, each edge rounded to a whole pixel."""
    width, height = size
    scale = min(1.0, DEFAULT_PRESET.width / width, DEFAULT_PRESET.height / height)
    return max(1, round(width * scale)), max(1, round(height * scale))


def _variant(picture: Image.Image, chance: random.Random) -> Photo:
    size = (
        chance.randint(_SHORTEST_EDGE_PIXELS, _LONGEST_EDGE_PIXELS),
        chance.randint(_SHORTEST_EDGE_PIXELS, _LONGEST_EDGE_PIXELS),
    )
    cast = Image.new("RGB", size, tuple(chance.randrange(256) for _ in range(3)))
    # PNG of a large photo would exceed the inline limit.
    name, content_type = chance.choice(_FORMATS if max(size) <= 800 else (_FORMATS[0], _FORMATS[2]))
    buffer = io.BytesIO()
    Image.blend(picture.resize(size), cast, 0.2).save(buffer, name)
    return Photo(buffer.getvalue(), content_type, thumbnail_size(size))
