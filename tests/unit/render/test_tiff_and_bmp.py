"""TIFF and BMP in the layouts that scanners, cameras and old programs write."""

from __future__ import annotations

import struct
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageCms, TiffImagePlugin

from tests.unit.render.pictures import LIMITS, encoded, image_file, opened, preset, quadrants
from thumbline.adapters.pillow import bmp_structure, tiff_structure
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.errors import FailureCode, PermanentError


def _rendered(data: bytes) -> Image.Image:
    return opened(render(data, [preset(output="png")], LIMITS).thumbnails[0].data)


def _refusal(data: bytes) -> PermanentError:
    with pytest.raises(PermanentError) as refusal:
        render(data, [preset()], LIMITS)
    return refusal.value


def _tiff(order: str, tags: dict[int, tuple[int, ...]], strip: bytes) -> bytes:
    """A TIFF with one strip; each tag's values are 32-bit numbers."""
    strip_at = 8
    directory_at = strip_at + len(strip) + len(strip) % 2
    tags = tags | {273: (strip_at,), 279: (len(strip),)}
    entries, outside = b"", b""
    outside_at = directory_at + 2 + 12 * len(tags) + 4
    for tag, values in sorted(tags.items()):
        packed = struct.pack(f"{order}{len(values)}I", *values)
        place = packed
        if len(packed) > 4:
            place = struct.pack(f"{order}I", outside_at + len(outside))
            outside += packed
        entries += struct.pack(f"{order}HHI", tag, 4, len(values)) + place
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", directory_at)
    body = head + strip + b"\0" * (len(strip) % 2)
    return body + struct.pack(f"{order}H", len(tags)) + entries + struct.pack(f"{order}I", 0) + outside


def _grey16(order: str, photometric: int = 1) -> bytes:
    samples = [level << 12 | (15 - level) << 4 for level in range(16)]
    tags: dict[int, tuple[int, ...]] = {
        256: (16,),
        257: (1,),
        258: (16,),
        259: (1,),
        262: (photometric,),
        277: (1,),
        278: (1,),
    }
    return _tiff(order, tags, struct.pack(f"{order}16H", *samples))


@pytest.mark.parametrize("order", ["<", ">"])
def test_sixteen_bit_grey_is_scaled_in_either_byte_order(order: str) -> None:
    grey = np.asarray(_rendered(_grey16(order)).convert("L"))[0]
    assert np.abs(grey.astype(int) - np.arange(16) * 16).max() <= 1


@pytest.mark.parametrize(
    ("tags", "says"),
    [
        ({262: (0,)}, "0 is white"),
        ({262: (8,)}, "colour model 8"),
        ({259: (34712,)}, "compression 34712"),
        ({258: (32,)}, "up to 16 bits"),
        ({339: (3,)}, "up to 16 bits"),
    ],
)
def test_a_layout_that_is_not_decoded_is_named(tags: dict[int, tuple[int, ...]], says: str) -> None:
    base: dict[int, tuple[int, ...]] = {
        256: (16,),
        257: (1,),
        258: (16,),
        259: (1,),
        262: (1,),
        277: (1,),
        278: (1,),
    }
    refusal = _refusal(_tiff("<", base | tags, bytes(64)))
    assert refusal.code == FailureCode.UNSUPPORTED_TYPE
    assert says in refusal.detail


def test_a_layout_that_only_the_decoder_knows_not_to_know_is_unsupported_not_corrupt() -> None:
    base: dict[int, tuple[int, ...]] = {
        256: (16,),
        257: (1,),
        258: (7,),
        259: (1,),
        262: (1,),
        277: (1,),
        278: (1,),
    }
    assert _refusal(_tiff("<", base, bytes(64))).code == FailureCode.UNSUPPORTED_TYPE


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "zstd"])
def test_every_compression_of_the_list_is_decoded(compression: str) -> None:
    image = _rendered(encoded(quadrants(96, 64), "TIFF", compression=compression)).convert("RGB")
    assert image.size == (96, 64)
    for point, wanted in (((20, 16), (255, 0, 0)), ((76, 16), (0, 255, 0)), ((20, 48), (0, 0, 255))):
        found = image.getpixel(point)
        assert isinstance(found, tuple)
        assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) < 12


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_tag_is_applied_exactly_once(orientation: int) -> None:
    data = encoded(quadrants(96, 64), "TIFF", tiffinfo={274: orientation})
    image = _rendered(data).convert("RGB")
    assert image.size == ((64, 96) if orientation >= 5 else (96, 64))
    corner = {1: "red", 2: "lime", 3: "white", 4: "blue", 5: "red", 6: "blue", 7: "white", 8: "lime"}[
        orientation
    ]
    assert image.getpixel((8, 8)) == Image.new("RGB", (1, 1), corner).getpixel((0, 0))


def test_only_the_first_page_and_no_metadata_reach_the_decoder() -> None:
    first, second = quadrants(16, 16), Image.new("RGB", (900, 900), "black")
    data = encoded(first, "TIFF", save_all=True, append_images=[second], tiffinfo={270: "SECRET"})
    essence = tiff_structure.inspect(data).essence
    with Image.open(BytesIO(essence)) as image:
        assert isinstance(image, TiffImagePlugin.TiffImageFile)
        assert image.n_frames == 1
        assert 270 not in image.tag_v2
    assert render(data, [preset()], LIMITS).width == 16


def test_a_bigtiff_loses_its_further_pages_too() -> None:
    essence = tiff_structure.inspect(image_file("tiff-big.tif")).essence
    assert essence[:4] == b"II+\0"
    assert render(image_file("tiff-big.tif"), [preset()], LIMITS).width == 128


@pytest.mark.parametrize("offset", [10_000_000, 2**63 - 1, 2**64 - 1])
def test_tags_beyond_the_end_of_the_file_are_truncation(offset: int) -> None:
    data = bytearray(image_file("tiff-big.tif"))
    struct.pack_into("<Q", data, 8, offset)
    assert _refusal(bytes(data)).code == FailureCode.TRUNCATED


def test_a_tiff_s_profile_is_used() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    assert (
        tiff_structure.inspect(encoded(quadrants(8, 8), "TIFF", icc_profile=profile)).icc_profile == profile
    )


def test_one_strip_for_all_counts_in_the_memory_budget() -> None:
    many = encoded(Image.new("RGB", (3000, 2000)), "TIFF", compression="tiff_lzw")
    one = encoded(Image.new("RGB", (3000, 2000)), "TIFF", compression="tiff_lzw", tiffinfo={278: 2000})
    grown = tiff_structure.inspect(one).fixed_bytes - tiff_structure.inspect(many).fixed_bytes
    assert grown > 30_000_000


@pytest.mark.parametrize("kind", ["TIFF", "BMP"])
def test_pixels_are_counted_before_missing_data(kind: str) -> None:
    data = encoded(quadrants(60, 40), kind)
    with pytest.raises(PermanentError) as refusal:
        render(data[:-100] if kind == "BMP" else data, [preset()], replace(LIMITS, max_pixels=2_000))
    assert refusal.value.code == FailureCode.TOO_MANY_PIXELS


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_every_kind_of_bmp_that_pillow_writes_is_read(mode: str) -> None:
    image = _rendered(encoded(quadrants(60, 40, mode), "BMP")).convert("RGB")
    assert image.size == (60, 40)
    assert image.getpixel((50, 35)) == (255, 255, 255)


def test_a_run_length_code_without_its_end_is_truncated() -> None:
    data = image_file("bmp-pal8rle.bmp")
    assert bmp_structure.inspect(data).shortfall is None
    assert _refusal(data[:-400]).code == FailureCode.TRUNCATED


def test_a_bmp_in_another_coding_is_unsupported() -> None:
    data = bytearray(encoded(quadrants(8, 8), "BMP"))
    struct.pack_into("<I", data, 30, 4)
    assert _refusal(bytes(data)).code == FailureCode.UNSUPPORTED_TYPE


def test_a_bmp_without_size_is_corrupt() -> None:
    data = bytearray(encoded(quadrants(8, 8), "BMP"))
    struct.pack_into("<i", data, 22, 0)
    assert _refusal(bytes(data)).code == FailureCode.CORRUPT


def test_the_profile_of_a_version_5_header_is_read() -> None:
    pixels = bytes(16)
    profile = b"profile bytes"
    header = struct.pack("<IiiHHIIiiII", 124, 2, 2, 1, 24, 0, 16, 0, 0, 0, 0) + bytes(16)
    header += b"DEBM" + bytes(48) + struct.pack("<IIII", 4, 124 + 16, len(profile), 0)
    data = b"BM" + struct.pack("<IHHI", 0, 0, 0, 14 + 124) + header + pixels + profile
    assert len(header) == 124
    assert bmp_structure.inspect(data).icc_profile == profile
