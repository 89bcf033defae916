"""What a file is, by its first bytes alone: names and declared types are the client's opinion.

Pure, so that ingest can refuse at once what the renderer would refuse later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from thumbline.domain.errors import FailureCode, PermanentError

_SNIFFED_BYTES = 1024


@dataclass(frozen=True, slots=True)
class PictureType:
    """One accepted type. `media_types` are the names that clients give it, the registered one first."""

    name: str
    label: str
    """How sentences call it."""
    media_types: tuple[str, ...]
    matches: Callable[[bytes], bool]


def _starts_with(*signatures: bytes) -> Callable[[bytes], bool]:
    return lambda data: data.startswith(signatures)


_BMP_HEADER_BYTES = frozenset({12, 40, 52, 56, 64, 108, 124})
"""The sizes of every Windows and OS/2 header; they tell a bitmap from any text that begins with BM."""


def _is_bmp(data: bytes) -> bool:
    return data[:2] == b"BM" and int.from_bytes(data[14:18], "little") in _BMP_HEADER_BYTES


_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})
_HEIF_BRANDS = frozenset({b"mif1", b"msf1", b"mif2"})
"""Brands of the container alone; the coding of its items decides."""


def _brands(data: bytes) -> frozenset[bytes]:
    """The major and the compatible brands of an ISO base media file (ISO/IEC 14496-12), if it is one."""
    if data[4:8] != b"ftyp":
        return frozenset()
    end = min(int.from_bytes(data[:4], "big"), len(data), _SNIFFED_BYTES)
    return frozenset({data[8:12], *(data[start : start + 4] for start in range(16, end - 3, 4))})


def _is_avif(data: bytes) -> bool:
    brands = _brands(data)
    if brands & _AVIF_BRANDS:
        return True
    coded = data[:_SNIFFED_BYTES]
    return bool(brands & _HEIF_BRANDS) and not brands & _HEIC_BRANDS and b"av01" in coded


def _is_heic(data: bytes) -> bool:
    return bool(_brands(data) & (_HEIC_BRANDS | _HEIF_BRANDS)) and not _is_avif(data)


JPEG = PictureType("jpeg", "JPEG", ("image/jpeg", "image/jpg", "image/pjpeg"), _starts_with(b"\xff\xd8\xff"))
PNG = PictureType(
    "png", "PNG", ("image/png", "image/apng", "image/x-png"), _starts_with(b"\x89PNG\r\n\x1a\n")
)
WEBP = PictureType(
    "webp", "WebP", ("image/webp",), lambda data: data[:4] == b"RIFF" and data[8:12] == b"WEBP"
)
GIF = PictureType("gif", "GIF", ("image/gif",), _starts_with(b"GIF87a", b"GIF89a"))
AVIF = PictureType("avif", "AVIF", ("image/avif", "image/avif-sequence"), _is_avif)
HEIC = PictureType(
    "heic", "HEIC", ("image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"), _is_heic
)
TIFF = PictureType(
    "tiff", "TIFF", ("image/tiff", "image/x-tiff"), _starts_with(b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
)
BMP = PictureType("bmp", "BMP", ("image/bmp", "image/x-ms-bmp", "image/x-bmp"), _is_bmp)

ACCEPTED = (JPEG, PNG, WEBP, GIF, AVIF, HEIC, TIFF, BMP)
_BY_NAME = {kind.name: kind for kind in ACCEPTED}

_WANTED = f"send {', '.join(kind.label for kind in ACCEPTED[:-1])} or {ACCEPTED[-1].label}"

_REFUSED_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\0\0\1\0", "ICO"),
    (b"8BPS", "PSD"),
    (b"%PDF-", "PDF"),
    (b"%!PS", "PostScript"),
    (b"\xc5\xd0\xd3\xc6", "PostScript"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x1f\x8b", "gzip"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!", "RAR"),
    (b"\x7fELF", "a program"),
    (b"#!", "a script"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\0\0\0\x0cJXL \r\n", "JPEG XL"),
    (b"\0\0\0\x0cjP  \r\n", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
)
"""First bytes, and the name that the answer uses."""

_MARKUP = re.compile(rb"<(svg|!doctype svg|!doctype html|html|\?php|\?xml)", re.IGNORECASE)


def recognise(data: bytes) -> PictureType:
    """What to decode it as. Raises PermanentError: empty, unsupported_type or not_an_image."""
    if not data:
        raise PermanentError(FailureCode.EMPTY, "The file is empty; send the picture's bytes.")
    for kind in ACCEPTED:
        if kind.matches(data):
            return kind
    name = _refused_name(data)
    if name is not None:
        detail = f"The file looks like {name}, which this service does not decode; {_WANTED}."
        raise PermanentError(FailureCode.UNSUPPORTED_TYPE, detail)
    looks = "The file looks like text" if _is_text(data) else "The file is no image that this service knows"
    raise PermanentError(FailureCode.NOT_AN_IMAGE, f"{looks}; {_WANTED}.")


def media_type(name: str) -> str:
    """The registered media type of an accepted type's name."""
    return _BY_NAME[name].media_types[0]


def mismatch_note(declared_type: str, name: str) -> str | None:
    """A sentence for the client whose declared media type promises another picture than `name` says.

    `application/octet-stream` and an absent type promise nothing.
    """
    kind = _BY_NAME[name]
    if not declared_type.startswith("image/") or declared_type in kind.media_types:
        return None
    return f"The picture was sent as {declared_type} but is {kind.label}, and was treated as {kind.label}."


def _refused_name(data: bytes) -> str | None:
    for signature, name in _REFUSED_SIGNATURES:
        if data.startswith(signature):
            return name
    if data[4:8] == b"ftyp":
        return "a video or another ISO media file"
    if markup := _MARKUP.search(data[:_SNIFFED_BYTES]):
        return _markup_name(data, markup[1].lower())
    return None


def _markup_name(data: bytes, opening: bytes) -> str:
    if b"svg" in opening or b"<svg" in data[:_SNIFFED_BYTES].lower():
        return "SVG"
    return {b"?xml": "XML", b"?php": "PHP"}.get(opening, "HTML")


def _is_text(data: bytes) -> bool:
    head = data[:_SNIFFED_BYTES]
    return b"\0" not in head and head.decode("utf-8", errors="replace").count("\ufffd") <= 1
