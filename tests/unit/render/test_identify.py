"""Content decides: a client's names and types are not even asked for."""

from __future__ import annotations

import pytest

from tests.unit.render.pictures import encoded, quadrants
from thumbline.adapters.pillow.identify import identify
from thumbline.domain.errors import FailureCode, PermanentError


@pytest.mark.parametrize(
    ("kind", "name"), [("JPEG", "jpeg"), ("PNG", "png"), ("GIF", "gif"), ("WEBP", "webp")]
)
def test_the_four_formats_are_known_by_their_first_bytes(kind: str, name: str) -> None:
    assert identify(encoded(quadrants(8, 8), kind)).name == name


@pytest.mark.parametrize(
    ("data", "looks_like"),
    [
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "SVG"),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- drawn --><svg/>', "SVG"),
        (b"<?xml version='1.0'?><note/>", "XML"),
        (b"<!DOCTYPE html><title>x</title>", "HTML"),
        (b"<?php echo 1;", "PHP"),
        (b"%PDF-1.7\n", "PDF"),
        (b"PK\x03\x04rest", "ZIP"),
        (b"II*\0\x08\0\0\0", "TIFF"),
        (b"MM\0*\0\0\0\x08", "TIFF"),
        (b"BM\x36\0\0\0", "BMP"),
        (b"\0\0\1\0\1\0", "ICO"),
        (b"8BPS\0\1", "PSD"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "AVIF"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "HEIC"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "video"),
        (b"\xff\x0a\0\0", "JPEG XL"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "PostScript"),
    ],
)
def test_another_known_type_is_named(data: bytes, looks_like: str) -> None:
    with pytest.raises(PermanentError) as refusal:
        identify(data)
    assert refusal.value.code == FailureCode.UNSUPPORTED_TYPE
    assert looks_like in refusal.value.detail
    assert "send JPEG, PNG, WebP or GIF" in refusal.value.detail


def test_text_is_no_image() -> None:
    with pytest.raises(PermanentError, match="looks like text") as refusal:
        identify("Dear reader, größer als 1\n".encode() * 100)
    assert refusal.value.code == FailureCode.NOT_AN_IMAGE


def test_unknown_bytes_are_no_image() -> None:
    with pytest.raises(PermanentError, match="no image") as refusal:
        identify(bytes(range(256)))
    assert refusal.value.code == FailureCode.NOT_AN_IMAGE


def test_nothing_is_empty() -> None:
    with pytest.raises(PermanentError) as refusal:
        identify(b"")
    assert refusal.value.code == FailureCode.EMPTY
