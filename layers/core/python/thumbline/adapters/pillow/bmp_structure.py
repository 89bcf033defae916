"""Reads a BMP by its headers (Windows 2 to 5, OS/2): size, coding, completeness; no pixel is decoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError

_FILE_HEADER_BYTES = 14
_CORE_HEADER_BYTES = 12
_V5_HEADER_BYTES = 124
_PLAIN, _RLE8, _RLE4, _BITFIELDS = 0, 1, 2, 3
_DEPTHS = frozenset({1, 4, 8, 16, 24, 32})
_SHORTFALL = "The BMP is truncated: rows of the picture are missing."
_EMBEDDED_PROFILE = b"DEBM"
"""The colour space MBED, in the file's byte order."""


@dataclass(frozen=True, slots=True)
class _Header:
    """`height` is negative where the first row is the top one."""

    width: int
    height: int
    depth: int
    coding: int
    pixels_at: int


def inspect(data: bytes) -> Source:
    """Raises PermanentError: truncated, corrupt, or unsupported_type for a coding that is not decoded."""
    header = _header(data)
    if header.width <= 0 or header.height == 0:
        raise _corrupt("it declares no width or height")
    if header.depth not in _DEPTHS or header.coding not in (_PLAIN, _RLE8, _RLE4, _BITFIELDS):
        detail = f"A BMP of {header.depth} bits a pixel in the coding {header.coding} is not supported."
        raise PermanentError(FailureCode.UNSUPPORTED_TYPE, detail)
    width, height = header.width, abs(header.height)
    is_packed = header.coding in (_RLE8, _RLE4)
    if is_packed:
        is_whole = _ends(data, header)
    else:
        row_bytes = (width * header.depth + 31) // 32 * 4
        is_whole = header.pixels_at + row_bytes * height <= len(data)
    return Source(
        format_name="bmp",
        width=width,
        height=height,
        essence=data,
        bytes_per_pixel=1 if header.depth <= 8 else 4,
        fixed_bytes=2 * width * height if is_packed else 0,
        icc_profile=_profile(data),
        shortfall=None if is_whole else _SHORTFALL,
    )


def _header(data: bytes) -> _Header:
    try:
        (pixels_at, size) = struct.unpack_from("<II", data, 10)
        if size == _CORE_HEADER_BYTES:
            width, height, _, depth = struct.unpack_from("<HHHH", data, 18)
            return _Header(width, height, depth, _PLAIN, pixels_at)
        width, height, _, depth, coding = struct.unpack_from("<iiHHI", data, 18)
    except struct.error:
        raise _truncated() from None
    if len(data) < _FILE_HEADER_BYTES + size:
        raise _truncated()
    return _Header(width, height, depth, coding, pixels_at)


def _ends(data: bytes, header: _Header) -> bool:
    """Whether the run-length code reaches its end mark or the last row."""
    position, rows = header.pixels_at, 0
    while position + 2 <= len(data):
        count, value = data[position], data[position + 1]
        position += 2
        if count:
            continue
        if value == 0:
            rows += 1
            if rows >= abs(header.height):
                return True
        elif value == 1:
            return True
        elif value == 2:
            rows += data[position + 1] if position + 2 <= len(data) else 0
            position += 2
        else:
            coded = value if header.coding == _RLE8 else (value + 1) // 2
            position += coded + coded % 2
    return False


def _profile(data: bytes) -> bytes | None:
    (size,) = struct.unpack_from("<I", data, _FILE_HEADER_BYTES)
    if size != _V5_HEADER_BYTES or data[70:74] != _EMBEDDED_PROFILE:
        return None
    start, length = struct.unpack_from("<II", data, 126)
    profile = data[_FILE_HEADER_BYTES + start : _FILE_HEADER_BYTES + start + length]
    return profile if len(profile) == length > 0 else None


def _corrupt(what: str) -> PermanentError:
    return PermanentError(FailureCode.CORRUPT, f"The BMP is corrupt: {what}.")


def _truncated() -> PermanentError:
    return PermanentError(FailureCode.TRUNCATED, "The BMP is truncated: it ends inside its header.")
