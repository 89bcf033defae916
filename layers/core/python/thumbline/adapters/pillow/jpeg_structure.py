"""Reads a JPEG by its markers (ITU T.81 annex B): size, scans, profile, orientation; no pixel is decoded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from thumbline.adapters.pillow.exif import orientation_of
from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError

_MARKER = re.compile(rb"\xff([^\x00\xff])")
_END_OF_SCAN = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
"""Inside entropy-coded data, 0xFF is stuffed with 0x00, filled with 0xFF or begins a restart marker."""

_SOI, _EOI, _SOS, _COM = 0xD8, 0xD9, 0xDA, 0xFE
_WITHOUT_LENGTH = frozenset({0x01, _SOI, *range(0xD0, 0xD8)})
_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_DECODABLE = frozenset({0xC0, 0xC1, 0xC2, 0xC9, 0xCA})
"""Baseline, extended and progressive, by Huffman or arithmetic coding. Not lossless, not hierarchical."""
_PROGRESSIVE = frozenset({0xC2, 0xCA})
_JFIF, _APP1, _APP2, _ADOBE = 0xE0, 0xE1, 0xE2, 0xEE
_METADATA = (frozenset(range(0xE0, 0xF0)) | {_COM}) - {_JFIF, _ADOBE}
"""JFIF and Adobe segments stay: they say how colours are coded."""
_ICC_HEADER = b"ICC_PROFILE\0"


@dataclass(slots=True)
class _Reading:
    """What the walk has found so far."""

    pieces: list[memoryview] = field(default_factory=list)
    frame: bytes | None = None
    frame_marker: int = 0
    scans: int = 0
    exif: bytes | None = None
    icc_parts: dict[int, bytes] = field(default_factory=dict)
    icc_count: int = 0
    is_adobe: bool = False


def inspect(data: bytes) -> Source:
    """Walks the first picture up to its end marker; whatever follows (MPO, appended files) is left out.

    Raises PermanentError: truncated without an end marker, corrupt, or a kind that is not decodable.
    """
    reading = _walk(data)
    if reading.frame is None or reading.scans == 0:
        raise PermanentError(FailureCode.CORRUPT, "The JPEG has no picture data.")
    width, height, components = _frame_header(reading.frame, reading.frame_marker)
    coefficient_bytes = 0
    if reading.frame_marker in _PROGRESSIVE or reading.scans > 1:
        coefficient_bytes = _coefficient_bytes(width, height, components)
    profile, notes = _profile(reading)
    return Source(
        format_name="jpeg",
        width=width,
        height=height,
        essence=b"".join((b"\xff\xd8", *reading.pieces, b"\xff\xd9")),
        bytes_per_pixel=1 if len(components) == 1 else 4,
        orientation=orientation_of(reading.exif) if reading.exif else 1,
        scans=reading.scans,
        fixed_bytes=coefficient_bytes,
        icc_profile=profile,
        # Adobe's CMYK is stored inverted and says so by its marker; Pillow inverts with and without one.
        is_negative=len(components) == 4 and not reading.is_adobe,
        notes=notes,
    )


def _walk(data: bytes) -> _Reading:
    view = memoryview(data)
    reading = _Reading()
    position = 2
    while True:
        # Bytes between segments are skipped, as every decoder does: cameras and editors leave them.
        match = _MARKER.search(data, position)
        if match is None:
            raise _truncated()
        marker, start, position = data[match.start() + 1], match.start(), match.end()
        if marker == _EOI:
            return reading
        if marker in _WITHOUT_LENGTH:
            continue
        length = int.from_bytes(data[position : position + 2], "big")
        end = position + length
        if position + 2 > len(data) or end > len(data):
            raise _truncated()
        if length < 2:
            raise PermanentError(FailureCode.CORRUPT, "The JPEG has a segment without a valid length.")
        body = data[position + 2 : end]
        if marker == _SOS:
            reading.scans += 1
            following = _END_OF_SCAN.search(data, end)
            if following is None:
                raise _truncated()
            end = following.start()
        elif marker in _FRAME_HEADERS:
            if reading.frame is not None:
                raise PermanentError(FailureCode.CORRUPT, "The JPEG has more than one frame header.")
            reading.frame, reading.frame_marker = body, marker
        else:
            _note_application(reading, marker, body)
        if marker not in _METADATA:
            reading.pieces.append(view[start:end])
        position = end


def _note_application(reading: _Reading, marker: int, body: bytes) -> None:
    if marker == _ADOBE and body.startswith(b"Adobe"):
        reading.is_adobe = True
    elif marker == _APP1 and body.startswith(b"Exif\0") and reading.exif is None:
        reading.exif = body[6:]
    elif marker == _APP2 and body.startswith(_ICC_HEADER) and len(body) > 14:
        reading.icc_parts[body[12]] = body[14:]
        reading.icc_count = body[13]


def _frame_header(frame: bytes, marker: int) -> tuple[int, int, list[tuple[int, int]]]:
    """Width and height in pixels, and each component's horizontal and vertical sampling factors."""
    if len(frame) < 6 or len(frame) < 6 + 3 * frame[5]:
        raise PermanentError(FailureCode.CORRUPT, "The JPEG's frame header is too short.")
    height, width = int.from_bytes(frame[1:3], "big"), int.from_bytes(frame[3:5], "big")
    components = [divmod(frame[6 + 3 * index + 1], 16) for index in range(frame[5])]
    if marker not in _DECODABLE:
        raise _unsupported("This kind of JPEG (lossless or hierarchical) is not supported.")
    if frame[0] != 8:
        raise _unsupported(f"A JPEG of {frame[0]} bits a sample is not supported; 8 bits are.")
    if len(components) not in (1, 3, 4):
        raise _unsupported(f"A JPEG of {len(components)} components is not supported.")
    if not width or not height or not all(1 <= factor <= 4 for pair in components for factor in pair):
        raise PermanentError(FailureCode.CORRUPT, "The JPEG's frame header has impossible values.")
    return width, height, components


def _coefficient_bytes(width: int, height: int, components: list[tuple[int, int]]) -> int:
    """libjpeg keeps all 16-bit coefficients of a picture that comes in several scans, at full size."""
    widest, tallest = max(h for h, _ in components), max(v for _, v in components)
    columns, rows = -(-width // (8 * widest)), -(-height // (8 * tallest))
    return sum(columns * h * rows * v for h, v in components) * 64 * 2


def _profile(reading: _Reading) -> tuple[bytes | None, tuple[str, ...]]:
    if not reading.icc_parts:
        return None, ()
    if sorted(reading.icc_parts) != list(range(1, reading.icc_count + 1)):
        return None, ("The colour profile is incomplete and was ignored.",)
    return b"".join(reading.icc_parts[number] for number in sorted(reading.icc_parts)), ()


def _truncated() -> PermanentError:
    return PermanentError(FailureCode.TRUNCATED, "The JPEG is truncated: it ends before its end marker.")


def _unsupported(detail: str) -> PermanentError:
    return PermanentError(FailureCode.UNSUPPORTED_TYPE, detail)
