"""The one EXIF tag that a thumbnail needs. Nothing else of EXIF is ever parsed."""

from __future__ import annotations

import struct

_ORIENTATION_TAG = 0x0112
_SHORT = 3
_MAX_ENTRIES = 4096


def orientation_of(tiff: bytes) -> int:
    """The orientation (1 to 8) in a TIFF block such as EXIF carries; 1 where it is absent or damaged."""
    byte_order = {b"II*\0": "<", b"MM\0*": ">"}.get(tiff[:4])
    if byte_order is None:
        return 1
    try:
        (directory,) = struct.unpack_from(f"{byte_order}I", tiff, 4)
        (entries,) = struct.unpack_from(f"{byte_order}H", tiff, directory)
        for index in range(min(entries, _MAX_ENTRIES)):
            entry = directory + 2 + 12 * index
            tag, kind, count, value = struct.unpack_from(f"{byte_order}HHIH", tiff, entry)
            if tag == _ORIENTATION_TAG:
                return value if kind == _SHORT and count == 1 and 1 <= value <= 8 else 1
    except struct.error:
        return 1
    return 1
