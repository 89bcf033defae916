"""What is sent, and what must become of it: photos, and a share of files that must fail with a known code."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from thumbline.domain.errors import FailureCode
from tools.soak.photos import Photo, photos

_DAMAGED_SHARE = 0.1
_BOMB_EDGE_PIXELS = 20_000


@dataclass(frozen=True, slots=True)
class Picture:
    """`failure` is the code with which the job must fail; None where it must succeed."""

    photo: Photo
    failure: FailureCode | None = None


def pictures(sample: Path, count: int, seed: int) -> Iterator[Picture]:
    """The sample first, then a damaged file, then at random: the same seed makes the same pictures."""
    chance = random.Random(seed)
    for number, photo in enumerate(photos(sample, count, seed)):
        damaged = chance.random() < _DAMAGED_SHARE
        if number == 1 or (damaged and number > 1):
            yield _damaged(photo, chance)
        else:
            yield Picture(photo)


def _damaged(photo: Photo, chance: random.Random) -> Picture:
    if photo.content_type == "image/jpeg":
        kept = chance.randint(len(photo.content) // 3, len(photo.content) // 2)
        return Picture(replace(photo, content=photo.content[:kept]), FailureCode.TRUNCATED)
    return Picture(replace(photo, content=_bomb(), content_type="image/png"), FailureCode.TOO_MANY_PIXELS)


def _bomb() -> bytes:
    """A PNG of a few bytes that declares 400 megapixels."""
    header = struct.pack(">IIBBBBB", _BOMB_EDGE_PIXELS, _BOMB_EDGE_PIXELS, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
