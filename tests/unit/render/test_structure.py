"""What is read, counted and refused before any pixel is decoded."""

from __future__ import annotations

import random
import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.unit.render.pictures import (
    LIMITS,
    encoded,
    gif,
    image_file,
    opened,
    png,
    png_chunk,
    preset,
    quadrants,
    repeat_last_scan,
    with_orientation,
)
from thumbline.adapters.pillow import gif_structure, jpeg_structure, png_structure, webp_structure
from thumbline.adapters.pillow.exif import orientation_of
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.presets import RenderLimits

_SMALL_FILES = {
    "jpeg": encoded(quadrants(40, 24), "JPEG"),
    "progressive": encoded(quadrants(40, 24), "JPEG", progressive=True),
    "png": encoded(quadrants(40, 24), "PNG"),
    "gif": encoded(quadrants(40, 24), "GIF"),
    "webp": encoded(quadrants(40, 24), "WEBP"),
    "lossless": encoded(quadrants(40, 24, "RGBA"), "WEBP", lossless=True),
    "avif": encoded(quadrants(40, 24, "RGBA"), "AVIF", speed=10),
    "heic": image_file("heic-turned-5.heic"),
    "tiff": encoded(quadrants(40, 24), "TIFF", compression="tiff_lzw"),
    "bmp": encoded(quadrants(40, 24), "BMP"),
}


def _refusal(data: bytes, limits: RenderLimits = LIMITS) -> PermanentError:
    with pytest.raises(PermanentError) as refusal:
        render(data, [preset()], limits)
    return refusal.value


@pytest.mark.parametrize("name", _SMALL_FILES)
def test_a_file_cut_anywhere_is_refused_and_never_half_rendered(name: str) -> None:
    whole = _SMALL_FILES[name]
    # A GIF without its trailer byte still has its whole picture; this HEIC ends with 36 bytes of EXIF.
    last = len(whole) - {"gif": 1, "heic": 36}.get(name, 0)
    codes = {_refusal(whole[:length]).code for length in range(32, last, 1 if len(whole) < 1_000 else 7)}
    assert codes <= {FailureCode.TRUNCATED, FailureCode.CORRUPT}
    assert FailureCode.TRUNCATED in codes


@given(st.sampled_from(sorted(_SMALL_FILES)), st.integers(0, 2**32))
def test_damage_is_rendered_or_refused_but_never_crashes(name: str, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(_SMALL_FILES[name])
    for _ in range(chance.randint(1, 8)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        rendering = render(bytes(data), [preset()], replace(LIMITS, max_pixels=1_000_000))
    except PermanentError:
        return
    thumbnail = rendering.thumbnails[0]
    assert opened(thumbnail.data).size == (thumbnail.width, thumbnail.height)


def test_a_png_whose_rows_end_early_is_truncated_not_black() -> None:
    row = b"\0" + b"\x80\x90\xa0" * 8
    assert _refusal(png(8, 8, row * 5)).code == FailureCode.TRUNCATED
    assert render(png(8, 8, row * 8), [preset()], LIMITS).width == 8


def test_a_png_with_a_black_last_row_is_whole() -> None:
    rows = b"\0" + b"\x80\x90\xa0" * 8 + (b"\0" + b"\0\0\0" * 8) * 7
    assert render(png(8, 8, rows), [preset()], LIMITS).height == 8


def test_an_interlaced_png_is_counted_pass_by_pass() -> None:
    whole = image_file("interlaced-hippo.png")
    assert render(whole, [preset()], LIMITS).width == 36


def test_a_wrong_checksum_in_the_picture_data_is_corrupt() -> None:
    data = bytearray(_SMALL_FILES["png"])
    data[data.index(b"IDAT") + 6] ^= 1
    refusal = _refusal(bytes(data))
    assert refusal.code == FailureCode.CORRUPT
    assert "IDAT" in refusal.detail


def test_metadata_may_be_damaged_without_harm() -> None:
    broken_text = png_chunk(b"tEXt", b"Comment\0hello")[:-1] + b"!"
    data = png(8, 8, (b"\0" + b"\x80\x90\xa0" * 8) * 8, before=[broken_text])
    assert render(data, [preset()], LIMITS).source_format == "png"


def test_a_compressed_text_bomb_is_never_inflated() -> None:
    bomb = png_chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(100 << 20), 9))
    source = png_structure.inspect(png(8, 8, (b"\0" + b"\x80" * 24) * 8, before=[bomb]))
    assert b"zTXt" not in source.essence


def test_pixels_are_refused_by_the_header_alone() -> None:
    refusal = _refusal(encoded(quadrants(40, 30), "PNG"), replace(LIMITS, max_pixels=1_000))
    assert refusal.code == FailureCode.TOO_MANY_PIXELS
    assert "40 x 30" in refusal.detail
    assert "limit is 0.001 megapixels" in refusal.detail
    assert (
        render(encoded(quadrants(40, 25), "PNG"), [preset()], replace(LIMITS, max_pixels=1_000)).width == 40
    )


def test_a_gif_frame_larger_than_its_canvas_counts_with_its_own_size() -> None:
    data = gif((2, 2), 0, 0, quadrants(60, 50))
    assert _refusal(data, replace(LIMITS, max_pixels=2_999)).code == FailureCode.TOO_MANY_PIXELS
    rendering = render(data, [preset()], replace(LIMITS, max_pixels=3_000))
    assert (rendering.width, rendering.height) == (60, 50)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_frames_are_counted_without_decoding_them(kind: str) -> None:
    frames = [quadrants(8 + index % 2, 8).resize((8, 8)) for index in range(5)]
    data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=50)
    refusal = _refusal(data, replace(LIMITS, max_frames=1))
    assert refusal.code == FailureCode.TOO_MANY_FRAMES
    assert "the limit is 1" in refusal.detail
    assert render(data, [preset()], replace(LIMITS, max_frames=5)).width == 8


def test_scans_times_megapixels_are_limited() -> None:
    data = repeat_last_scan(encoded(quadrants(1000, 1000), "JPEG", progressive=True), 100)
    scans = jpeg_structure.inspect(data).scans
    assert scans > 100
    refusal = _refusal(data, replace(LIMITS, max_scan_megapixels=scans - 1))
    assert refusal.code == FailureCode.TOO_COMPLEX
    assert f"{scans} scans" in refusal.detail
    assert render(data, [preset()], replace(LIMITS, max_scan_megapixels=scans)).width == 1000


def test_memory_is_budgeted_from_the_header() -> None:
    needs_40_mb = encoded(Image.new("RGB", (4000, 2500)), "PNG")
    refusal = _refusal(needs_40_mb, replace(LIMITS, memory_bytes=(96 + 38) << 20))
    assert refusal.code == FailureCode.TOO_COMPLEX
    assert "MiB of memory" in refusal.detail
    assert render(needs_40_mb, [preset()], replace(LIMITS, memory_bytes=(96 + 40) << 20)).width == 4000


def test_a_jpeg_that_shrinks_while_decoding_needs_less_than_a_progressive_one() -> None:
    tight = replace(LIMITS, memory_bytes=(96 + 10) << 20)
    picture = quadrants(4000, 2500)
    assert render(encoded(picture, "JPEG"), [preset()], tight).width == 4000
    assert _refusal(encoded(picture, "JPEG", progressive=True), tight).code == FailureCode.TOO_COMPLEX


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [(b"\xff\xc0", b"\xff\xc3", "lossless"), (b"\xff\xc0\0\x11\x08", b"\xff\xc0\0\x11\x0c", "12 bits")],
)
def test_a_kind_of_jpeg_that_no_decoder_here_knows_is_named(old: bytes, new: bytes, says: str) -> None:
    refusal = _refusal(_SMALL_FILES["jpeg"].replace(old, new, 1))
    assert refusal.code == FailureCode.UNSUPPORTED_TYPE
    assert says in refusal.detail


def test_a_jpeg_that_is_all_fill_bytes_takes_no_quadratic_time() -> None:
    # With a backtracking pattern, this would take hours.
    data = _SMALL_FILES["jpeg"][:-2] + b"\xff" * 3_000_000 + b"\0"
    with pytest.raises(PermanentError):
        jpeg_structure.inspect(data)


def test_what_follows_the_picture_never_reaches_the_decoder() -> None:
    for inspect, name in (
        (jpeg_structure.inspect, "jpeg"),
        (png_structure.inspect, "png"),
        (gif_structure.inspect, "gif"),
        (webp_structure.inspect, "webp"),
    ):
        assert b"trailing" not in inspect(_SMALL_FILES[name] + b"trailing").essence


@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_the_orientation_tag_is_found_in_both_byte_orders(byte_order: str) -> None:
    magic = b"II*\0" if byte_order == "<" else b"MM\0*"
    entries = struct.pack(f"{byte_order}HHIHxx", 0x0100, 3, 1, 9) + struct.pack(
        f"{byte_order}HHIHxx", 0x0112, 3, 1, 6
    )
    assert orientation_of(magic + struct.pack(f"{byte_order}IH", 8, 2) + entries) == 6


@given(st.binary(max_size=200))
def test_a_damaged_tag_block_means_upright(block: bytes) -> None:
    assert 1 <= orientation_of(b"II*\0" + block) <= 8


@pytest.mark.parametrize("value", [0, 9, 65535])
def test_an_orientation_out_of_range_means_upright(value: int) -> None:
    data = with_orientation(quadrants(40, 24), "JPEG", value)
    assert jpeg_structure.inspect(data).orientation == 1
