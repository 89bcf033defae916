"""Content decides: a client's names and types are not even asked for."""

from __future__ import annotations

import pytest

from tests.unit.render.pictures import encoded, image_file, quadrants
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.signatures import ACCEPTED, media_type, mismatch_note, recognise


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF", "BMP"])
def test_an_accepted_type_is_known_by_its_first_bytes(kind: str) -> None:
    assert recognise(encoded(quadrants(8, 8), kind)).label.upper() == kind


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (image_file("heic-thumbor.heic"), "heic"),
        (image_file("avif-anim.avif"), "avif"),
        (image_file("tiff-big.tif"), "tiff"),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avif", "avif"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1" + b"....meta....av01", "avif"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1" + b"....meta....hvc1", "heic"),
        (b"\0\0\0\x1cftypheic\0\0\0\0mif1heic" + b"....av01", "heic"),
    ],
)
def test_brands_and_byte_orders_tell_the_containers_apart(data: bytes, name: str) -> None:
    assert recognise(data).name == name


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
        (b"\0\0\1\0\1\0", "ICO"),
        (b"8BPS\0\1", "PSD"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "video"),
        (b"\xff\x0a\0\0", "JPEG XL"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "PostScript"),
        (b"#!/bin/sh\n", "a script"),
        (b"\x7fELF\2\1\1", "a program"),
    ],
)
def test_another_known_type_is_named(data: bytes, looks_like: str) -> None:
    with pytest.raises(PermanentError) as refusal:
        recognise(data)
    assert refusal.value.code == FailureCode.UNSUPPORTED_TYPE
    assert looks_like in refusal.value.detail
    assert "send JPEG, PNG, WebP, GIF, AVIF, HEIC, TIFF or BMP" in refusal.value.detail


def test_text_is_no_image_even_where_it_begins_like_a_bitmap() -> None:
    for text in ("Dear reader, größer als 1\n" * 100, "BMW cars are listed below, by year and colour"):
        with pytest.raises(PermanentError, match="looks like text") as refusal:
            recognise(text.encode())
        assert refusal.value.code == FailureCode.NOT_AN_IMAGE


def test_unknown_bytes_are_no_image() -> None:
    with pytest.raises(PermanentError, match="no image") as refusal:
        recognise(bytes(range(256)))
    assert refusal.value.code == FailureCode.NOT_AN_IMAGE


def test_nothing_is_empty() -> None:
    with pytest.raises(PermanentError) as refusal:
        recognise(b"")
    assert refusal.value.code == FailureCode.EMPTY


def test_a_declared_type_is_compared_with_the_content() -> None:
    assert mismatch_note("image/png", "jpeg") == (
        "The picture was sent as image/png but is JPEG, and was treated as JPEG."
    )
    for declared in ("image/jpeg", "image/jpg", "application/octet-stream", ""):
        assert mismatch_note(declared, "jpeg") is None


def test_every_accepted_type_has_a_registered_media_type() -> None:
    assert [media_type(kind.name) for kind in ACCEPTED] == [
        *("image/jpeg", "image/png", "image/webp", "image/gif"),
        *("image/avif", "image/heic", "image/tiff", "image/bmp"),
    ]
