"""Decides by content alone what an original is: names and declared types are the client's opinion."""

from __future__ import annotations

import re

from thumbline.adapters.pillow.formats import SOURCE_FORMATS, SourceFormat
from thumbline.domain.errors import FailureCode, PermanentError

_ACCEPTED = "send JPEG, PNG, WebP or GIF"

_SNIFFED_BYTES = 1024

_UNSUPPORTED_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"II+\0", "TIFF"),
    (0, b"MM\0+", "TIFF"),
    (0, b"BM", "BMP"),
    (0, b"\0\0\1\0", "ICO"),
    (0, b"8BPS", "PSD"),
    (0, b"%PDF-", "PDF"),
    (0, b"%!PS", "PostScript"),
    (0, b"\xc5\xd0\xd3\xc6", "PostScript"),
    (0, b"PK\x03\x04", "ZIP"),
    (0, b"\x1f\x8b", "gzip"),
    (0, b"\xff\x0a", "JPEG XL"),
    (0, b"\0\0\0\x0cJXL \r\n", "JPEG XL"),
    (0, b"\0\0\0\x0cjP  \r\n", "JPEG 2000"),
    (0, b"\xff\x4f\xff\x51", "JPEG 2000"),
)
"""Offset, bytes, and the name that the answer uses."""

_BRANDS = {
    b"avif": "AVIF",
    b"avis": "AVIF",
    b"mif1": "HEIC",
    b"msf1": "HEIC",
    b"heic": "HEIC",
    b"heix": "HEIC",
    b"hevc": "HEIC",
}
"""ISO base media brands (`ftyp`); every other one is some video."""

_MARKUP = re.compile(rb"<(svg|!doctype svg|!doctype html|html|\?php|\?xml)", re.IGNORECASE)


def identify(data: bytes) -> SourceFormat:
    """The format to decode with. Raises PermanentError: empty, unsupported_type or not_an_image."""
    if not data:
        raise PermanentError(FailureCode.EMPTY, "The file is empty.")
    for source_format in SOURCE_FORMATS:
        if source_format.matches(data):
            return source_format
    name = _unsupported_name(data)
    if name is not None:
        detail = f"The file looks like {name}, which this service does not decode; {_ACCEPTED}."
        raise PermanentError(FailureCode.UNSUPPORTED_TYPE, detail)
    looks = "The file looks like text" if _is_text(data) else "The file is no image that this service knows"
    raise PermanentError(FailureCode.NOT_AN_IMAGE, f"{looks}; {_ACCEPTED}.")


def _unsupported_name(data: bytes) -> str | None:
    for offset, signature, name in _UNSUPPORTED_SIGNATURES:
        if data.startswith(signature, offset):
            return name
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "a video or another ISO media file")
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
