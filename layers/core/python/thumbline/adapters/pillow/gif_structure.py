"""Reads a GIF by its blocks (GIF89a): canvas, frames, the first frame; no pixel is decoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError

_EXTENSION, _IMAGE, _TRAILER = 0x21, 0x2C, 0x3B
_GRAPHIC_CONTROL = 0xF9
_HAS_PALETTE = 0x80


@dataclass(frozen=True, slots=True)
class _Frame:
    """The first image: its rectangle on the canvas, and the bytes from its flags to the end of its data."""

    left: int
    top: int
    width: int
    height: int
    flags_and_data: bytes
    transparent_index: int | None


def inspect(data: bytes) -> Source:
    """Walks every block, so that frames are counted without decoding one; keeps the first frame alone.

    A missing trailer is tolerated, a block cut short is not.
    Raises PermanentError: truncated, or corrupt (no frame, no size).
    """
    if len(data) < 13:
        raise _truncated()
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    palette_end = 13 + _palette_bytes(flags)
    frames, frame = _walk(data, palette_end)
    if frame is None:
        raise PermanentError(FailureCode.CORRUPT, "The GIF has no frame.")
    if not (width and height and frame.width and frame.height):
        raise PermanentError(FailureCode.CORRUPT, "The GIF is corrupt: it declares a width or height of 0.")
    box = (frame.left, frame.top, frame.left + frame.width, frame.top + frame.height)
    # A first frame that reaches beyond the canvas enlarges it, as in browsers.
    width, height = max(width, box[2]), max(height, box[3])
    covers = box == (0, 0, width, height)
    return Source(
        format_name="gif",
        width=width,
        height=height,
        essence=_single_frame(data[:6], data[10:palette_end], frame),
        bytes_per_pixel=1,
        frames=frames,
        fixed_bytes=0 if covers else 4 * (width * height + frame.width * frame.height),
        frame_box=None if covers else box,
    )


def _walk(data: bytes, position: int) -> tuple[int, _Frame | None]:
    frames = 0
    first: _Frame | None = None
    transparent_index: int | None = None
    while position < len(data):
        introducer = data[position]
        if introducer == _EXTENSION:
            label = _byte(data, position + 1)
            end = _skip_sub_blocks(data, position + 2)
            if label == _GRAPHIC_CONTROL and end - position >= 8:
                transparent_index = data[position + 6] if data[position + 3] & 1 else None
            position = end
        elif introducer == _IMAGE:
            if position + 10 > len(data):
                raise _truncated()
            left, top, width, height, flags = struct.unpack_from("<HHHHB", data, position + 1)
            end = _skip_sub_blocks(data, position + 10 + _palette_bytes(flags) + 1)
            frames += 1
            if first is None:
                first = _Frame(left, top, width, height, data[position + 9 : end], transparent_index)
            position = end
        elif introducer == _TRAILER or first is not None:
            # After a complete frame, bytes that begin no block are taken for the end, as browsers do.
            break
        else:
            raise PermanentError(FailureCode.CORRUPT, "The GIF is corrupt: a block has no valid beginning.")
    return frames, first


def _skip_sub_blocks(data: bytes, position: int) -> int:
    while length := _byte(data, position):
        position += 1 + length
    return position + 1


def _byte(data: bytes, position: int) -> int:
    if position >= len(data):
        raise _truncated()
    return data[position]


def _palette_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & _HAS_PALETTE else 0


def _single_frame(version: bytes, screen: bytes, frame: _Frame) -> bytes:
    """A GIF of the first frame alone, whose canvas is that frame: nothing is left to compose."""
    control = b""
    if frame.transparent_index is not None:
        control = bytes((_EXTENSION, _GRAPHIC_CONTROL, 4, 1, 0, 0, frame.transparent_index, 0))
    size = struct.pack("<HH", frame.width, frame.height)
    image = bytes((_IMAGE, 0, 0, 0, 0)) + size + frame.flags_and_data
    return b"".join((version, size, screen, control, image, bytes((_TRAILER,))))


def _truncated() -> PermanentError:
    return PermanentError(FailureCode.TRUNCATED, "The GIF is truncated: it ends inside a block.")
