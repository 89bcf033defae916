"""Reads a WebP by its RIFF chunks: canvas, frames, profile, orientation; no pixel is decoded."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from thumbline.adapters.pillow.exif import orientation_of
from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError

_DECODER_BYTES_PER_PIXEL = 12
"""Beside the decoded picture: libwebp's animation decoder keeps two canvases of 4 bytes a pixel, and Pillow
copies a third (measured, with the picture: 14.8 to 15.4 bytes a pixel, lossless and alpha included)."""


def inspect(data: bytes) -> Source:
    """Raises PermanentError: truncated (shorter than it declares), or corrupt."""
    (declared_bytes,) = struct.unpack_from("<I", data, 4)
    end = declared_bytes + 8
    if end > len(data):
        raise PermanentError(
            FailureCode.TRUNCATED, f"The WebP is truncated: it declares {end} bytes and has {len(data)}."
        )
    size: tuple[int, int] | None = None
    frames = 0
    exif = b""
    profile: bytes | None = None
    for kind, body in _chunks(data, end):
        if kind in _SIZE_READERS and size is None:
            size = _SIZE_READERS[kind](body)
        elif kind == b"ANMF":
            frames += 1
        elif kind == b"EXIF":
            exif = bytes(body)
        elif kind == b"ICCP":
            profile = bytes(body)
    if size is None:
        raise PermanentError(FailureCode.CORRUPT, "The WebP has no picture data.")
    width, height = size
    return Source(
        format_name="webp",
        width=width,
        height=height,
        essence=data[:end],
        bytes_per_pixel=4,
        orientation=orientation_of(exif.removeprefix(b"Exif\0\0")),
        frames=max(frames, 1),
        fixed_bytes=width * height * _DECODER_BYTES_PER_PIXEL + 2 * len(data),
        icc_profile=profile,
    )


def _chunks(data: bytes, end: int) -> Iterator[tuple[bytes, memoryview]]:
    view = memoryview(data)
    position = 12
    while position + 8 <= end:
        kind, length = struct.unpack_from("<4sI", data, position)
        if position + 8 + length > end:
            raise PermanentError(FailureCode.TRUNCATED, "The WebP is truncated: a chunk ends after the file.")
        yield kind, view[position + 8 : position + 8 + length]
        position += 8 + length + length % 2


def _lossy_size(body: memoryview) -> tuple[int, int]:
    if len(body) < 10 or bytes(body[3:6]) != b"\x9d\x01\x2a":
        raise _bad_header()
    width, height = struct.unpack_from("<HH", body, 6)
    return _size(width & 0x3FFF, height & 0x3FFF)


def _lossless_size(body: memoryview) -> tuple[int, int]:
    if len(body) < 5 or body[0] != 0x2F:
        raise _bad_header()
    (bits,) = struct.unpack_from("<I", body, 1)
    return _size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)


def _canvas_size(body: memoryview) -> tuple[int, int]:
    if len(body) < 10:
        raise _bad_header()
    return _size(int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1)


_SIZE_READERS = {b"VP8 ": _lossy_size, b"VP8L": _lossless_size, b"VP8X": _canvas_size}


def _size(width: int, height: int) -> tuple[int, int]:
    if not (width and height):
        raise _bad_header()
    return width, height


def _bad_header() -> PermanentError:
    return PermanentError(FailureCode.CORRUPT, "The WebP is corrupt: its header has impossible values.")
