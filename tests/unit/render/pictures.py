"""Pictures for the rendering tests: real ones from `tests/data/images`, and ones made to order."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from thumbline.domain.presets import DEFAULT_PRESET, Fit, OutputFormat, Preset, RenderLimits

IMAGES = Path(__file__).parents[2] / "data" / "images"

LIMITS = RenderLimits(
    max_pixels=120_000_000,
    max_frames=1_000,
    max_scan_megapixels=2_000,
    cpu_seconds=10,
    memory_bytes=1 << 30,
    wall_seconds=60,
)


def preset(
    width: int = 320,
    height: int = 320,
    *,
    fit: Fit = "contain",
    output: OutputFormat = "auto",
    name: str = DEFAULT_PRESET.name,
) -> Preset:
    return Preset(name=name, width=width, height=height, fit=fit, format=output, quality=80)


def image_file(name: str) -> bytes:
    return (IMAGES / name).read_bytes()


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    output = BytesIO()
    image.save(output, kind, **options)
    return output.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    image.load()
    return image


def quadrants(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Red, green, blue and white corners: every turn and mirroring looks different."""
    image = Image.new("RGB", (width, height), "white")
    image.paste("red", (0, 0, (width + 1) // 2, (height + 1) // 2))
    image.paste("lime", ((width + 1) // 2, 0, width, (height + 1) // 2))
    image.paste("blue", (0, (height + 1) // 2, (width + 1) // 2, height))
    return image.convert(mode)


def with_orientation(image: Image.Image, kind: str, orientation: int, **options: object) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(image, kind, exif=exif.tobytes(), **options)


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def png(
    width: int,
    height: int,
    rows: bytes,
    *,
    depth: int = 8,
    colour: int = 2,
    before: Sequence[bytes] = (),
    after: Sequence[bytes] = (),
) -> bytes:
    """`rows`: filter byte and samples of each row, uncompressed."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            png_chunk(b"IHDR", header),
            *before,
            png_chunk(b"IDAT", zlib.compress(rows)),
            *after,
            png_chunk(b"IEND", b""),
        )
    )


def gif(canvas: tuple[int, int], left: int, top: int, frame: Image.Image) -> bytes:
    """One frame at a place of its own on the canvas."""
    data = bytearray(encoded(frame, "GIF"))
    palette_end = 13 + ((3 << (data[10] & 7) + 1) if data[10] & 0x80 else 0)
    descriptor = data.index(b",", palette_end)
    data[6:10] = struct.pack("<HH", *canvas)
    data[descriptor + 1 : descriptor + 5] = struct.pack("<HH", left, top)
    return bytes(data)


def repeat_last_scan(progressive: bytes, times: int) -> bytes:
    """A progressive JPEG whose last scan comes again and again: little data, endless work."""
    start = progressive.rindex(b"\xff\xda")
    scan = progressive[start:-2]
    return progressive[:-2] + scan * times + b"\xff\xd9"
