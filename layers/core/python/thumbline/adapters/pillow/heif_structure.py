"""Reads AVIF and HEIC by their items: size, transformations, colour, completeness; no pixel is decoded.

Orientation is a property of the container there (irot, imir); an EXIF tag beside it only repeats it for
software that does not know the container, and is never applied.
"""

from __future__ import annotations

import struct
from math import floor

from thumbline.adapters.pillow.cicp import described_colour
from thumbline.adapters.pillow.heif_boxes import BrokenBoxError, Container, Item, read_container
from thumbline.adapters.pillow.source import Box, Source
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.signatures import AVIF, HEIC, PictureType

Size = tuple[int, int]

_CODINGS = {AVIF.name: (b"av01",), HEIC.name: (b"hvc1", b"hev1")}
_BYTES_PER_PIXEL = 4
_DECODER_BYTES_PER_PIXEL = {AVIF.name: (9, 12), HEIC.name: (12, 14)}
"""Beside the decoded picture, for 8 bits a sample and for more (measured: `docs/images.md`)."""

_CORNERS = {
    (0, 1, 2, 3): 1, (1, 0, 3, 2): 2, (3, 2, 1, 0): 3, (2, 3, 0, 1): 4,
    (0, 2, 1, 3): 5, (2, 0, 3, 1): 6, (3, 1, 2, 0): 7, (1, 3, 0, 2): 8,
}  # fmt: skip
"""Which stored corner comes to stand top left, top right, bottom left and bottom right → EXIF's number."""


def inspect_avif(data: bytes) -> Source:
    """The decoder hands out the picture as it is stored: cropping and turning are left to us.

    Raises PermanentError: truncated, corrupt, or unsupported_type (no still picture, or another coding).
    """
    container, item, stored = _primary(data, AVIF)
    crop = _clean_aperture(item, stored)
    width, height = stored if crop is None else (crop[2] - crop[0], crop[3] - crop[1])
    return _source(
        AVIF,
        data,
        container,
        item,
        stored,
        visible=(width, height),
        orientation=_orientation(item),
        crop=crop,
        essence=_as_still(data),
    )


def inspect_heic(data: bytes) -> Source:
    """The decoder applies every transformation itself, so the picture that it hands out is upright.

    Raises PermanentError: truncated, corrupt, or unsupported_type (no still picture, or another coding).
    """
    container, item, stored = _primary(data, HEIC)
    crop = _clean_aperture(item, stored)
    width, height = stored if crop is None else (crop[2] - crop[0], crop[3] - crop[1])
    if _orientation(item) >= 5:
        width, height = height, width
    return _source(HEIC, data, container, item, stored, visible=(width, height), essence=data)


def _source(
    kind: PictureType,
    data: bytes,
    container: Container,
    item: Item,
    stored: Size,
    *,
    visible: Size,
    essence: bytes,
    orientation: int = 1,
    crop: Box | None = None,
) -> Source:
    colour = described_colour(_profile(item), _code_points(item))
    per_sample = (item.first(b"pixi") or b"")[5:]
    deep = max(per_sample, default=8) > 8
    return Source(
        format_name=kind.name,
        width=visible[0],
        height=visible[1],
        essence=essence,
        bytes_per_pixel=_BYTES_PER_PIXEL,
        orientation=orientation,
        frames=container.frames,
        fixed_bytes=stored[0] * stored[1] * _DECODER_BYTES_PER_PIXEL[kind.name][deep] + len(data),
        icc_profile=colour.profile,
        crop=crop,
        decoded_size=stored if crop is not None else None,
        notes=colour.notes,
        shortfall=None if _is_whole(container, len(data)) else _shortfall(kind),
    )


def _primary(data: bytes, kind: PictureType) -> tuple[Container, Item, Size]:
    try:
        container = read_container(data)
    except BrokenBoxError as error:
        raise _corrupt(kind, str(error)) from error
    item = container.items.get(container.primary) if container.primary is not None else None
    if container.is_cut or (item is None and not container.has_tracks):
        raise PermanentError(FailureCode.TRUNCATED, _shortfall(kind))
    if item is None:
        detail = f"The {kind.label} has no still picture; sequences without one are not supported."
        raise PermanentError(FailureCode.UNSUPPORTED_TYPE, detail)
    _require_coding(kind, container, item)
    extent = item.first(b"ispe")
    if extent is None or len(extent) < 12:
        raise _corrupt(kind, "it does not say how large it is")
    width, height = struct.unpack_from(">II", extent, 4)
    if not width or not height:
        raise _corrupt(kind, "it declares a width or height of 0")
    return container, item, (width, height)


def _require_coding(kind: PictureType, container: Container, item: Item) -> None:
    coded = [container.items.get(part, Item()).kind for part in item.parts] or [item.kind]
    unknown = next((coding for coding in coded if coding not in _CODINGS[kind.name]), None)
    if unknown is not None:
        name = unknown.decode("latin-1").strip()
        detail = f"The {kind.label} holds a picture of the coding {name!r}, which is not supported."
        raise PermanentError(FailureCode.UNSUPPORTED_TYPE, detail)


def _is_whole(container: Container, length: int) -> bool:
    """All coded data of the picture, its tiles and its transparency lie inside the file."""
    primary = container.primary or 0
    for picture in (primary, *container.auxiliary.get(primary, ())):
        for part in (picture, *container.items.get(picture, Item()).parts):
            spans = container.items.get(part, Item()).spans
            if any(end > length or start > end for start, end in spans):
                return False
    return True


def _clean_aperture(item: Item, stored: Size) -> Box | None:
    """The box that `clap` leaves of the stored picture; None where it leaves all, or makes no sense."""
    body = item.first(b"clap")
    if body is None or len(body) < 32:
        return None
    values = struct.unpack_from(">IIIIiIiI", body)
    if not all(values[1::2]):
        return None
    wide, high, across, down = (values[index] / values[index + 1] for index in range(0, 8, 2))
    left, top = floor((stored[0] - wide) / 2 + across), floor((stored[1] - high) / 2 + down)
    right, bottom = left + round(wide), top + round(high)
    box = (max(0, left), max(0, top), min(stored[0], right), min(stored[1], bottom))
    return box if box[0] < box[2] and box[1] < box[3] and box != (0, 0, *stored) else None


def _orientation(item: Item) -> int:
    """The turning and mirroring properties, in their order, as the EXIF orientation that does the same."""
    corners = (0, 1, 2, 3)
    for kind, body in item.properties:
        if kind == b"irot" and body:
            for _ in range(body[0] & 3):
                top_left, top_right, bottom_left, bottom_right = corners
                corners = (top_right, bottom_right, top_left, bottom_left)
        elif kind == b"imir" and body:
            first, second, third, fourth = corners
            corners = (second, first, fourth, third) if body[0] & 1 else (third, fourth, first, second)
    return _CORNERS[corners]


def _profile(item: Item) -> bytes | None:
    for kind, body in item.properties:
        if kind == b"colr" and body[:4] in (b"prof", b"rICC"):
            return body[4:]
    return None


def _code_points(item: Item) -> tuple[int, int] | None:
    for kind, body in item.properties:
        if kind == b"colr" and body[:4] == b"nclx" and len(body) >= 8:
            primaries, transfer = struct.unpack_from(">HH", body, 4)
            return primaries, transfer
    return None


def _as_still(data: bytes) -> bytes:
    """The major brand decides whether the decoder plays the tracks or shows the still picture."""
    return data[:8] + b"avif" + data[12:] if data[8:12] == b"avis" else data


def _corrupt(kind: PictureType, what: str) -> PermanentError:
    return PermanentError(FailureCode.CORRUPT, f"The {kind.label} is corrupt: {what}.")


def _shortfall(kind: PictureType) -> str:
    return f"The {kind.label} is truncated: it ends before its picture data does."
