"""Faults that other services were reported for, each tried here. `docs/images.md` maps reports to tests."""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

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
from thumbline.adapters.pillow.cicp import described_colour
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.presets import OutputFormat
from thumbline.domain.signatures import ACCEPTED, recognise

_ROOT = Path(__file__).parents[3]
_OUTPUTS: tuple[OutputFormat, ...] = ("jpeg", "webp", "png", "avif")
_REPORTS = 70


def _shown(data: bytes, output: OutputFormat = "png", side: int = 320) -> Image.Image:
    return opened(render(data, [preset(side, side, output=output)], LIMITS).thumbnails[0].data)


def _pixel(image: Image.Image, x: float, y: float) -> tuple[int, ...]:
    pixel = image.convert("RGBA").getpixel((int(x * image.width), int(y * image.height)))
    assert isinstance(pixel, tuple)
    return pixel


def _near(found: tuple[int, ...], wanted: tuple[int, ...], slack: int = 40) -> bool:
    return max(abs(a - b) for a, b in zip(found, wanted, strict=False)) <= slack


def _code(data: bytes) -> FailureCode:
    with pytest.raises(PermanentError) as refusal:
        render(data, [preset()], LIMITS)
    return refusal.value.code


def test_orientation_lost() -> None:
    image = _shown(with_orientation(quadrants(96, 64), "JPEG", 6))
    assert image.size == (64, 96)
    assert _near(_pixel(image, 0.25, 0.25), (0, 0, 255))


@pytest.mark.parametrize("output", _OUTPUTS)
def test_orientation_applied_twice(output: OutputFormat) -> None:
    image = _shown(with_orientation(quadrants(96, 64), "JPEG", 8), output)
    assert image.getexif().get(0x0112, 1) == 1
    assert _near(_pixel(image, 0.25, 0.25), (0, 255, 0))


def test_orientation_applied_twice_in_heif() -> None:
    # Container and EXIF both say: turn right.
    image = _shown(image_file("heic-turned-6.heic"))
    assert image.size == (64, 96)
    assert _near(_pixel(image, 0.25, 0.25), (0, 0, 255))


def test_orientation_depends_on_output_type() -> None:
    data = with_orientation(quadrants(96, 64), "JPEG", 3)
    for output in _OUTPUTS:
        image = _shown(data, output)
        assert _near(_pixel(image, 0.25, 0.25), (255, 255, 255))
        assert _near(_pixel(image, 0.75, 0.75), (255, 0, 0))


def test_wrong_tag_in_the_source_is_obeyed() -> None:
    upright = quadrants(96, 64)
    assert _near(_pixel(_shown(with_orientation(upright, "JPEG", 3)), 0.25, 0.25), (255, 255, 255))


@pytest.mark.parametrize("marker", [True, False])
def test_cmyk_inversion(marker: bool) -> None:
    cmyk = Image.new("RGB", (64, 64), (200, 60, 40)).convert("CMYK")
    if marker:
        data = encoded(cmyk, "JPEG", quality=95)
        assert b"Adobe" in data
    else:
        # Without the marker the samples are meant as they are; Pillow inverts what it writes.
        inverted = Image.eval(cmyk, lambda value: 255 - value)
        data = re.sub(
            rb"\xff\xee\0\x0eAdobe.{7}", b"", encoded(inverted, "JPEG", quality=95), flags=re.DOTALL
        )
        assert b"Adobe" not in data
    assert _near(_pixel(_shown(data), 0.5, 0.5), (200, 60, 40))


def test_cmyk_black_without_profile_stays_dark() -> None:
    data = encoded(Image.new("CMYK", (64, 64), (0, 0, 0, 255)), "JPEG", quality=95)
    assert max(_pixel(_shown(data), 0.5, 0.5)[:3]) < 25


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_icc_dropped_without_conversion(kind: str) -> None:
    profile = described_colour(None, (9, 13)).profile
    assert profile is not None
    wanted = ImageCms.profileToProfile(
        Image.new("RGB", (64, 64), (60, 160, 90)),
        ImageCms.ImageCmsProfile(BytesIO(profile)),
        ImageCms.createProfile("sRGB"),
        outputMode="RGB",
    )
    assert wanted is not None
    options = {"lossless": True} if kind == "WEBP" else {}
    data = encoded(Image.new("RGB", (64, 64), (60, 160, 90)), kind, icc_profile=profile, **options)
    assert _near(_pixel(_shown(data), 0.5, 0.5), _pixel(wanted, 0.5, 0.5), 6)
    assert not _near(_pixel(_shown(data), 0.5, 0.5), (60, 160, 90), 20)


def test_bit_depth_clipped() -> None:
    grey = np.asarray(_shown(image_file("png16-gray.png")).convert("L"))
    # Clipping at 255 of 65,535 leaves hardly anything but white.
    assert np.percentile(grey, 10) < 100


def test_mode_conversion_of_a_transparent_palette_to_jpeg() -> None:
    image = _shown(image_file("palette-trns-pil.png"), "jpeg")
    assert image.mode in ("L", "RGB")


def test_alpha_flattening_is_white_not_black() -> None:
    picture = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    picture.paste((250, 10, 10, 255), (0, 0, 32, 64))
    data = encoded(picture, "PNG")
    assert _near(_pixel(_shown(data, "jpeg"), 0.8, 0.5), (255, 255, 255), 8)
    for output in ("png", "webp", "avif"):
        assert _pixel(_shown(data, output), 0.8, 0.5)[3] < 10


def test_mode_conversion_of_a_transparent_gif_to_jpeg() -> None:
    assert _shown(image_file("gif-transparent-dispose.gif"), "jpeg").format == "JPEG"


def test_a_tiny_transparent_gif_keeps_its_colour_in_a_jpeg() -> None:
    # Three pixels, the middle one blue: shared between neighbours, its colour would be grey.
    assert _near(_pixel(_shown(image_file("gif-transparent-dispose.gif"), "jpeg"), 0.5, 0.5), (0, 0, 255), 60)


def test_alpha_flattening_of_grey_with_alpha() -> None:
    picture = Image.new("LA", (64, 64), (0, 0))
    data = encoded(picture, "PNG")
    assert _near(_pixel(_shown(data, "jpeg"), 0.5, 0.5), (255, 255, 255), 4)
    assert _pixel(_shown(data), 0.5, 0.5)[3] == 0


@pytest.mark.parametrize("name", ["gif-dispose-prev.gif", "apng-dispose-bg.png"])
def test_animation_disposal_does_not_reach_the_first_frame(name: str) -> None:
    with Image.open(BytesIO(image_file(name))) as animation:
        first = animation.convert("RGB")
    shown = _shown(image_file(name)).convert("RGB")
    assert np.abs(np.asarray(shown, int) - np.asarray(first, int)).mean() < 3


def test_a_blank_first_frame_is_no_failure() -> None:
    frames = [Image.new("RGB", (32, 32), "white"), quadrants(32, 32)]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=50)
    assert _near(_pixel(_shown(data), 0.2, 0.2), (255, 255, 255), 2)


def test_a_still_gif_of_a_multiple_height_is_no_strip_of_pages() -> None:
    assert _shown(encoded(quadrants(10, 80), "GIF"), "webp").size == (10, 80)


@pytest.mark.parametrize("name", ["bomb-16383.png", "bomb-sof-64250.jpg", "bomb-screen-65535.gif"])
def test_a_decompression_bomb_is_refused_from_its_header(name: str) -> None:
    assert _code(image_file(name)) == FailureCode.TOO_MANY_PIXELS


def test_nothing_is_allocated_before_the_check() -> None:
    claim = png(30_000, 30_000, b"", depth=16, colour=6)
    assert _code(claim) == FailureCode.TOO_MANY_PIXELS
    heavy = png(10_000, 11_000, b"", depth=8, colour=6)
    with pytest.raises(PermanentError, match="MiB of memory") as refusal:
        render(heavy, [preset()], replace(LIMITS, memory_bytes=400 << 20))
    assert refusal.value.code == FailureCode.TOO_COMPLEX


def test_a_bomb_in_a_later_frame_is_never_decoded() -> None:
    first = encoded(quadrants(16, 16), "GIF")
    later = gif((60_000, 60_000), 0, 0, quadrants(16, 16))
    block = later[later.index(b",", 13) :]
    data = bytearray(first[:-1] + block)
    place = len(first) - 1
    data[place + 5 : place + 9] = b"\x60\xea\x60\xea"
    assert render(bytes(data), [preset()], LIMITS).width == 16


def test_no_false_alarm_of_the_size_limit() -> None:
    assert render(image_file("gif-oob-frame.gif"), [preset()], LIMITS).width > 0


def test_a_large_text_chunk_is_no_reason_to_refuse() -> None:
    text = png_chunk(b"tEXt", b"Comment\0" + b"x" * 3_000_000)
    assert render(png(8, 8, (b"\0" + bytes(24)) * 8, before=[text]), [preset()], LIMITS).width == 8


def test_processor_exhaustion_by_scans() -> None:
    progressive = encoded(Image.effect_noise((2000, 2000), 5), "JPEG", progressive=True, quality=5)
    assert _code(repeat_last_scan(progressive, 1_200)) == FailureCode.TOO_COMPLEX


@pytest.mark.parametrize("size", [(1, 54), (54, 1), (1, 1), (1, 3000), (10_000, 1)])
def test_no_division_by_zero_for_thin_pictures(size: tuple[int, int]) -> None:
    image = _shown(encoded(Image.new("RGB", size, "red"), "PNG"))
    assert min(image.size) == 1
    assert max(image.size) == min(320, max(size))


def test_a_limit_is_named_in_the_reason() -> None:
    picture = encoded(Image.new("L", (200, 200)), "GIF")
    with pytest.raises(PermanentError) as refusal:
        render(picture, [preset()], replace(LIMITS, max_pixels=39_999))
    assert refusal.value.code == FailureCode.TOO_MANY_PIXELS
    assert "too large" in refusal.value.detail
    assert "limit is 0.039999 megapixels" in refusal.value.detail


def test_truncation_is_found_before_success_is_reported() -> None:
    assert _code(image_file("trunc-hibiscus-p50.jpg")) == FailureCode.TRUNCATED


def test_bytes_between_segments_are_tolerated() -> None:
    data = encoded(quadrants(64, 64), "JPEG")
    place = data.index(b"\xff\xdb")
    assert render(data[:place] + b"junk" + data[place:], [preset()], LIMITS).width == 64


@pytest.mark.parametrize("kind", [kind.label for kind in ACCEPTED])
def test_every_advertised_format_works(kind: str) -> None:
    data = image_file("heic-thumbor.heic") if kind == "HEIC" else encoded(quadrants(64, 64), kind.upper())
    assert render(data, [preset()], LIMITS).source_format == kind.lower()


@pytest.mark.parametrize("name", ["heic-rainbow.heic", "heic-rgba8.heif", "heic-thumbor.heic"])
def test_heic_variants(name: str) -> None:
    assert render(image_file(name), [preset()], LIMITS).source_format == "heic"


def test_an_mpo_is_a_jpeg_and_only_its_first_picture_is_used() -> None:
    data = image_file("mpo-frozenpond.mpo")
    assert recognise(data).name == "jpeg"
    first = data[: data.index(b"\xff\xd9\xff\xd8") + 2] if b"\xff\xd9\xff\xd8" in data else data
    assert render(data, [preset()], LIMITS).thumbnails == render(first, [preset()], LIMITS).thumbnails


@pytest.mark.parametrize("output", _OUTPUTS)
def test_the_output_s_content_type_matches_its_bytes(output: OutputFormat) -> None:
    thumbnail = render(encoded(quadrants(64, 64), "PNG"), [preset(output=output)], LIMITS).thumbnails[0]
    assert thumbnail.content_type == f"image/{output}"
    assert (opened(thumbnail.data).format or "").lower() == output
    assert recognise(thumbnail.data).name == output


@pytest.mark.parametrize(
    "svg",
    [
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>',
        b'<svg><use href="http://127.0.0.1:1/x"/></svg>',
    ],
)
def test_a_vector_file_is_refused_and_never_parsed(svg: bytes) -> None:
    # Sockets are shut in these tests: a request that it provoked would fail with another error.
    assert _code(svg) == FailureCode.UNSUPPORTED_TYPE


@pytest.mark.parametrize("output", _OUTPUTS)
def test_privacy_metadata_kept(output: OutputFormat) -> None:
    thumbnail = render(image_file("gps-pil.jpg"), [preset(output=output)], LIMITS).thumbnails[0]
    image = opened(thumbnail.data)
    assert not image.getexif()
    assert not {"exif", "xmp", "icc_profile", "comment"} & set(image.info)


def test_shrink_on_load_leaves_no_coloured_line() -> None:
    picture = Image.linear_gradient("L").resize((1999, 1333)).convert("RGB")
    shown = np.asarray(_shown(encoded(picture, "JPEG", quality=95), side=100).convert("RGB"), int)
    plain = np.asarray(picture.resize((100, 67), Image.Resampling.LANCZOS), int)
    for edge in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        assert np.abs(shown[edge] - plain[edge]).max() <= 6


def test_resize_leaves_no_band_at_an_odd_width() -> None:
    shown = np.asarray(_shown(encoded(Image.new("RGB", (341, 200), (180, 90, 40)), "PNG"), side=170), int)
    assert np.abs(shown - np.array((180, 90, 40))).max() <= 1


def test_each_report_is_answered_by_a_test_or_by_a_decision() -> None:
    page = (_ROOT / "docs" / "images.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", page, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, _REPORTS + 1))
    decision = (_ROOT / "docs" / "decisions" / "0024-reports-that-do-not-apply.md").read_text(
        encoding="utf-8"
    )
    for number, answer in rows:
        if "0024" in answer:
            assert re.search(rf"^- \*\*{number}\*\*", decision, re.MULTILINE), number
            continue
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", answer)
        assert named, number
        for path, name in named:
            assert re.search(rf"^ *def {name}\(", (_ROOT / path).read_text(), re.MULTILINE), (number, name)
