"""Pictures made for one purpose each."""

from __future__ import annotations

import io
import math
import struct
import zlib
from pathlib import Path

from PIL import Image

from tools.demo.pictures import SAMPLE

RED, GREEN, BLUE, WHITE = (220, 20, 20), (20, 160, 20), (20, 20, 220), (250, 250, 250)
_ORIENTATION = 0x0112
_TURN_RIGHT_TO_SHOW = 6


def sideways_jpeg() -> bytes:
    """Stored on its side; upright it is 400 x 600, its quarters red, green, blue and white from top left."""
    upright = Image.new("RGB", (400, 600))
    for corner, colour in {(0, 0): RED, (200, 0): GREEN, (0, 300): BLUE, (200, 300): WHITE}.items():
        upright.paste(colour, (*corner, corner[0] + 200, corner[1] + 300))
    exif = Image.Exif()
    exif[_ORIENTATION] = _TURN_RIGHT_TO_SHOW
    buffer = io.BytesIO()
    upright.transpose(Image.Transpose.ROTATE_90).save(buffer, "JPEG", exif=exif, quality=95)
    return buffer.getvalue()


def transparent_png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGBA", (500, 250), (*RED, 0)).save(buffer, "PNG")
    return buffer.getvalue()


def large_png(target: Path, megabytes: int) -> None:
    """The sample photo, enlarged to pixels of so many megabytes and stored without compression."""
    with Image.open(SAMPLE) as photo:
        scale = math.sqrt(megabytes * 1e6 / 3 / (photo.width * photo.height))
        size = (round(photo.width * scale), round(photo.height * scale))
        photo.convert("RGB").resize(size).save(target, "PNG", compress_level=0)


def truncated_jpeg() -> bytes:
    whole = SAMPLE.read_bytes()
    return whole[: len(whole) // 2]


def bomb_png() -> bytes:
    """A few bytes that declare 400 megapixels."""
    header = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
