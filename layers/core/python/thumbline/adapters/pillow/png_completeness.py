"""Tells a whole PNG from one whose compressed data ends early but properly.

Pillow takes the end of the zlib stream for the end of the picture and leaves the missing rows at zero
without a word. Inflating everything once more would cost a quarter of the decoding, so only pictures
whose last row is all zero, or that are interlaced, are counted.
"""

from __future__ import annotations

import struct
import zlib

from PIL import Image

_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Colour type → samples a pixel."""
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""First column, first row, column step and row step of each interlacing pass."""
_STEP_BYTES = 1 << 20


def is_complete(essence: bytes, image: Image.Image) -> bool:
    """`essence` as `png_structure` makes it, `image` as it was decoded from it."""
    interlaced = essence[28] == 1
    last_row = image.crop((0, image.height - 1, image.width, image.height)).tobytes()
    if not interlaced and last_row.strip(b"\0"):
        return True
    return _inflates_to(essence, _expected_bytes(essence, interlaced))


def _expected_bytes(essence: bytes, interlaced: bool) -> int:
    width, height, depth, colour = struct.unpack_from(">IIBB", essence, 16)
    bits = depth * _SAMPLES[colour]
    passes = _ADAM7 if interlaced else ((0, 0, 1, 1),)
    total = 0
    for left, top, column_step, row_step in passes:
        columns, rows = -(-(width - left) // column_step), -(-(height - top) // row_step)
        if columns > 0 and rows > 0:
            total += rows * (1 + (columns * bits + 7) // 8)
    return total


def _inflates_to(essence: bytes, expected_bytes: int) -> bool:
    inflater = zlib.decompressobj()
    position, inflated_bytes = 8, 0
    while position < len(essence) and inflated_bytes < expected_bytes:
        length, kind = struct.unpack_from(">I4s", essence, position)
        if kind == b"IDAT":
            pending = essence[position + 8 : position + 8 + length]
            while pending and not inflater.eof:
                inflated_bytes += len(inflater.decompress(pending, _STEP_BYTES))
                pending = inflater.unconsumed_tail
        position += 12 + length
    return inflated_bytes + len(inflater.flush()) >= expected_bytes
