"""Reads a PNG by its chunks (W3C PNG 3): size, transparency, profile, orientation; no pixel is decoded."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from thumbline.adapters.pillow.cicp import described_colour, is_high_range
from thumbline.adapters.pillow.exif import orientation_of
from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError

SIGNATURE = b"\x89PNG\r\n\x1a\n"

_BYTES_PER_PIXEL = {
    (1, 0): 1, (2, 0): 1, (4, 0): 1, (8, 0): 1, (16, 0): 2,
    (8, 2): 4, (16, 2): 4,
    (1, 3): 1, (2, 3): 1, (4, 3): 1, (8, 3): 1,
    (8, 4): 4, (16, 4): 4,
    (8, 6): 4, (16, 6): 4,
}  # fmt: skip
"""(bit depth, colour type) of every legal PNG → bytes of a decoded pixel in Pillow's memory."""

_MAX_PROFILE_BYTES = 4 << 20
_PALETTE = 3


@dataclass(frozen=True, slots=True)
class _Chunk:
    kind: bytes
    body: memoryview
    whole: memoryview
    crc: int

    def require_valid_crc(self) -> None:
        if zlib.crc32(self.whole[4:-4]) != self.crc:
            raise _corrupt(f"the checksum of its {self.kind.decode('ascii')} chunk is wrong")


@dataclass(frozen=True, slots=True)
class _Header:
    width: int
    height: int
    depth: int
    colour: int


def inspect(data: bytes) -> Source:
    """Reads up to IEND. Of an APNG, only the default image is kept.

    Raises PermanentError: truncated (no IEND), or corrupt (also: a wrong checksum in a chunk that matters).
    """
    chunks = _chunks(data)
    first = next(chunks, None)
    if first is None:
        raise _corrupt("it does not begin with its header")
    header = _header(first)
    kept = [first.whole]
    picture: list[memoryview] = []
    picture_ended = False
    frames = 0
    exif = b""
    profile: bytes | None = None
    code_points: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()
    for chunk in chunks:
        if chunk.kind == b"IDAT":
            # Only consecutive IDAT chunks belong to the picture.
            if not picture_ended:
                chunk.require_valid_crc()
                picture.append(chunk.whole)
            continue
        picture_ended = bool(picture)
        if chunk.kind == b"PLTE" and not picture:
            chunk.require_valid_crc()
            kept.append(chunk.whole)
        elif chunk.kind == b"tRNS" and not picture:
            chunk.require_valid_crc()
            kept.append(memoryview(_transparency(chunk.body, header)))
        elif chunk.kind == b"iCCP" and not picture:
            profile = _profile(bytes(chunk.body))
            notes = () if profile else ("The colour profile is damaged and was ignored.",)
        elif chunk.kind == b"cICP" and not picture and len(chunk.body) == 4:
            code_points = (chunk.body[0], chunk.body[1])
        elif chunk.kind == b"eXIf":
            exif = bytes(chunk.body)
        elif chunk.kind == b"fcTL":
            frames += 1
    if not picture:
        raise PermanentError(FailureCode.CORRUPT, "The PNG has no picture data.")
    if code_points is not None and is_high_range(code_points):
        # W3C PNG 3, section 4.3: cICP goes before iCCP. In standard range it is ignored, as everywhere.
        colour = described_colour(None, code_points)
        profile, notes = colour.profile, colour.notes
    return Source(
        format_name="png",
        width=header.width,
        height=header.height,
        essence=b"".join((SIGNATURE, *kept, *picture, _chunk(b"IEND", b""))),
        bytes_per_pixel=_BYTES_PER_PIXEL[header.depth, header.colour],
        orientation=orientation_of(exif.removeprefix(b"Exif\0\0")),
        frames=max(frames, 1),
        icc_profile=profile,
        notes=notes,
    )


def _chunks(data: bytes) -> Iterator[_Chunk]:
    """Every chunk before IEND."""
    view = memoryview(data)
    position = len(SIGNATURE)
    while True:
        if position + 12 > len(data):
            raise _truncated()
        length, kind = struct.unpack_from(">I4s", data, position)
        if not kind.isalpha():
            raise _corrupt("a chunk has no valid name")
        end = position + 12 + length
        if end > len(data):
            raise _truncated()
        if kind == b"IEND":
            return
        (crc,) = struct.unpack_from(">I", data, end - 4)
        yield _Chunk(kind, view[position + 8 : end - 4], view[position:end], crc)
        position = end


def _header(chunk: _Chunk) -> _Header:
    if chunk.kind != b"IHDR" or len(chunk.body) != 13:
        raise _corrupt("it does not begin with its header")
    chunk.require_valid_crc()
    width, height, depth, colour, compression, row_filter, interlace = struct.unpack(">IIBBBBB", chunk.body)
    legal = (depth, colour) in _BYTES_PER_PIXEL and not compression and not row_filter and interlace <= 1
    if not legal or not 0 < width < 1 << 31 or not 0 < height < 1 << 31:
        raise _corrupt("its header has impossible values")
    return _Header(width, height, depth, colour)


def _transparency(body: memoryview, header: _Header) -> bytes:
    """The tRNS chunk in 8-bit values, which is what the pixels are by the time that Pillow compares them."""
    if header.colour == _PALETTE:
        return _chunk(b"tRNS", bytes(body))
    if len(body) < (2 if header.colour == 0 else 6):
        raise _corrupt("its transparency chunk is too short")
    samples = struct.unpack(f">{len(body) // 2}H", body[: len(body) // 2 * 2])
    if header.depth == 16:
        samples = tuple(sample >> 8 for sample in samples)
    elif header.depth in (2, 4):
        samples = tuple(sample * 255 // ((1 << header.depth) - 1) for sample in samples)
    return _chunk(b"tRNS", struct.pack(f">{len(samples)}H", *samples))


def _profile(body: bytes) -> bytes | None:
    """The inflated ICC profile; None if it is damaged or too large to be one."""
    _, separator, rest = body.partition(b"\0")
    if not separator or rest[:1] != b"\0":
        return None
    inflater = zlib.decompressobj()
    try:
        profile = inflater.decompress(rest[1:], _MAX_PROFILE_BYTES)
    except zlib.error:
        return None
    return profile if inflater.eof else None


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def _corrupt(what: str) -> PermanentError:
    return PermanentError(FailureCode.CORRUPT, f"The PNG is corrupt: {what}.")


def _truncated() -> PermanentError:
    return PermanentError(FailureCode.TRUNCATED, "The PNG is truncated: it ends before its IEND chunk.")
