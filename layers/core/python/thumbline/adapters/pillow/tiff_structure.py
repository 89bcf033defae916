"""Reads the first page of a TIFF by its tags (TIFF 6.0, BigTIFF); no pixel is decoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError

_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC = 256, 257, 258, 259, 262
_STRIP_OFFSETS, _ORIENTATION, _SAMPLES, _ROWS_PER_STRIP, _STRIP_BYTES = 273, 274, 277, 278, 279
_TILE_WIDTH, _TILE_HEIGHT, _TILE_OFFSETS, _TILE_BYTES = 322, 323, 324, 325
_SAMPLE_FORMAT, _PROFILE = 339, 34675

_KEPT = frozenset(
    {_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, 266, _STRIP_OFFSETS, _SAMPLES, _ROWS_PER_STRIP}
    | {_STRIP_BYTES, 284, 292, 293, 317, 320, _TILE_WIDTH, _TILE_HEIGHT, _TILE_OFFSETS, _TILE_BYTES}
    | {332, 338, _SAMPLE_FORMAT, 347, 529, 530, 531, 532}
)
"""What decoding needs. Orientation is not among them: the decoder would obey it, and so would we."""

_COMPRESSIONS = frozenset({1, 2, 3, 4, 5, 7, 8, 32773, 32946, 50000})
"""None, CCITT (3), LZW, JPEG, Deflate (2), PackBits, Zstandard."""
_PHOTOMETRICS = frozenset({0, 1, 2, 3, 5, 6})
"""Grey (2), RGB, palette, CMYK, YCbCr."""

_SHORTFALL = "The TIFF is truncated: it ends before its picture data does."
_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 16: 8, 17: 8, 18: 8}
_NUMBERS = {1: "B", 3: "H", 4: "I", 16: "Q"}
_MAX_ENTRIES = 4096
_BUFFER_BYTES = 16 << 20
"""libtiff's buffers beside the strip that it decodes (measured: `docs/images.md`)."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One tag. `raw`: the entry as it stands; its values lie at `start` in the file."""

    kind: int
    count: int
    start: int
    raw: bytes


class _Directory:
    """The first page's tags."""

    def __init__(self, data: bytes) -> None:
        """Raises PermanentError truncated where the directory lies beyond the end of the file."""
        self._data = data
        self.order = "<" if data[:2] == b"II" else ">"
        self.is_big = data[2:4] in (b"+\0", b"\0+")
        try:
            self._entries = self._read()
        except (struct.error, OverflowError):
            # A 64-bit offset may lie beyond any file's end.
            raise _truncated() from None

    def _read(self) -> dict[int, _Entry]:
        offset, count, place = ("Q", "Q", 8) if self.is_big else ("I", "H", 4)
        (start,) = struct.unpack_from(f"{self.order}{offset}", self._data, place)
        (entries,) = struct.unpack_from(f"{self.order}{count}", self._data, start)
        if not 0 < entries <= _MAX_ENTRIES:
            raise _corrupt("its first page has an impossible number of tags")
        size = 20 if self.is_big else 12
        start += struct.calcsize(count)
        found: dict[int, _Entry] = {}
        for position in range(start, start + entries * size, size):
            tag, kind, length = struct.unpack_from(f"{self.order}HH{offset}", self._data, position)
            inline = position + size - place
            (elsewhere,) = struct.unpack_from(f"{self.order}{offset}", self._data, inline)
            fits = length * _TYPE_BYTES.get(kind, 1) <= place
            raw = self._data[position : position + size]
            found.setdefault(tag, _Entry(kind, length, inline if fits else elsewhere, raw))
        return found

    def numbers(self, tag: int, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Raises PermanentError: truncated, or corrupt where the tag holds no whole numbers."""
        entry = self._entries.get(tag)
        if entry is None:
            return default
        if entry.kind not in _NUMBERS:
            raise _corrupt(f"its tag {tag} holds no whole numbers")
        if entry.start + entry.count * _TYPE_BYTES[entry.kind] > len(self._data):
            raise _truncated()
        return struct.unpack_from(f"{self.order}{entry.count}{_NUMBERS[entry.kind]}", self._data, entry.start)

    def number(self, tag: int, default: int = 0) -> int:
        return next(iter(self.numbers(tag)), default)

    def content(self, tag: int) -> bytes | None:
        entry = self._entries.get(tag)
        if entry is None or entry.kind not in (1, 7):
            return None
        content = self._data[entry.start : entry.start + entry.count]
        return content if len(content) == entry.count else None

    def first_page_alone(self) -> bytes:
        """The file with a new directory at its end: the same strips, no metadata, no further page."""
        kept = [self._entries[tag].raw for tag in sorted(self._entries) if tag in _KEPT]
        start = len(self._data) + len(self._data) % 2
        offset, count, place = ("Q", "Q", 8) if self.is_big else ("I", "H", 4)
        return b"".join(
            (
                self._data[:place],
                struct.pack(f"{self.order}{offset}", start),
                self._data[2 * place :],
                b"\0" * (len(self._data) % 2),
                struct.pack(f"{self.order}{count}", len(kept)),
                *kept,
                struct.pack(f"{self.order}{offset}", 0),
            )
        )


def inspect(data: bytes) -> Source:
    """Raises PermanentError: truncated, corrupt, or unsupported_type for a layout that is not decoded."""
    directory = _Directory(data)
    width, height = directory.number(_WIDTH), directory.number(_HEIGHT)
    if not width or not height:
        raise _corrupt("it declares no width or height")
    bits = directory.numbers(_BITS, (1,))
    samples = directory.number(_SAMPLES, 1)
    _require_known_layout(directory, bits)
    rows_at_once, is_whole = _picture_data(directory, len(data), height)
    row_bytes = -(-width * samples * max(bits) // 8)
    orientation = directory.number(_ORIENTATION, 1)
    return Source(
        format_name="tiff",
        width=width,
        height=height,
        essence=directory.first_page_alone(),
        bytes_per_pixel=_bytes_per_pixel(samples, max(bits)),
        orientation=orientation if 1 <= orientation <= 8 else 1,
        fixed_bytes=row_bytes * rows_at_once * 2 + _BUFFER_BYTES,
        icc_profile=directory.content(_PROFILE),
        shortfall=None if is_whole else _SHORTFALL,
    )


def _require_known_layout(directory: _Directory, bits: tuple[int, ...]) -> None:
    compression, photometric = directory.number(_COMPRESSION, 1), directory.number(_PHOTOMETRIC, 1)
    if compression not in _COMPRESSIONS:
        raise _unsupported(f"the compression {compression}")
    if photometric not in _PHOTOMETRICS:
        raise _unsupported(f"the colour model {photometric}")
    if not bits or max(bits) > 16 or set(directory.numbers(_SAMPLE_FORMAT, (1,))) != {1}:
        raise _unsupported("samples other than whole numbers of up to 16 bits")
    if photometric == 0 and max(bits) == 16:
        raise _unsupported("16-bit samples of which 0 is white")


def _picture_data(directory: _Directory, length: int, height: int) -> tuple[int, bool]:
    """How many rows are decoded at once, at most, and whether every strip or tile lies inside the file."""
    tiled = directory.number(_TILE_WIDTH) > 0
    offsets = directory.numbers(_TILE_OFFSETS if tiled else _STRIP_OFFSETS)
    sizes = directory.numbers(_TILE_BYTES if tiled else _STRIP_BYTES)
    if not offsets:
        raise PermanentError(FailureCode.CORRUPT, "The TIFF has no picture data.")
    # The sizes may be missing, which old writers thought allowed for a single strip.
    ends = [offset + size for offset, size in zip(offsets, sizes, strict=False)] or [max(offsets) + 1]
    rows = directory.number(_TILE_HEIGHT) if tiled else directory.number(_ROWS_PER_STRIP, height)
    return min(height, rows or height), max(ends) <= length


def _bytes_per_pixel(samples: int, bits: int) -> int:
    if samples > 1:
        return 4
    return 2 if bits > 8 else 1


def _corrupt(what: str) -> PermanentError:
    return PermanentError(FailureCode.CORRUPT, f"The TIFF is corrupt: {what}.")


def _truncated() -> PermanentError:
    return PermanentError(
        FailureCode.TRUNCATED, "The TIFF is truncated: it ends before its picture data does."
    )


def _unsupported(what: str) -> PermanentError:
    return PermanentError(FailureCode.UNSUPPORTED_TYPE, f"A TIFF with {what} is not supported.")
