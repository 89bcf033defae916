"""The finished thumbnails: upright, right colours, clean, and the same bytes every time."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    with_orientation,
)
from thumbline.adapters.pillow import shrink
from thumbline.adapters.pillow.colour import IGNORED
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.presets import Fit, OutputFormat
from thumbline.ports.renderer import Rendering

_OUTPUTS: tuple[OutputFormat, ...] = ("jpeg", "webp", "png")
_UPRIGHT = {
    1: "RGBW", 2: "GRWB", 3: "WBGR", 4: "BWRG", 5: "RBGW", 6: "BRWG", 7: "WGBR", 8: "GWRB",
}  # fmt: skip
"""Orientation → the corners of `quadrants` once it is upright: top left, top right, bottom left and right."""


def _rendered(data: bytes, output: OutputFormat = "png", width: int = 320, height: int = 320) -> Image.Image:
    return opened(render(data, [preset(width, height, output=output)], LIMITS).thumbnails[0].data)


def _corners(image: Image.Image) -> str:
    rgb = image.convert("RGB")
    names = {(True, False, False): "R", (False, True, False): "G", (False, False, True): "B"}
    width, height = rgb.size
    points = [(x, y) for y in (height // 4, 3 * height // 4) for x in (width // 4, 3 * width // 4)]
    found = []
    for point in points:
        pixel = rgb.getpixel(point)
        assert isinstance(pixel, tuple)
        found.append(names.get((pixel[0] > 128, pixel[1] > 128, pixel[2] > 128), "W"))
    return "".join(found)


@pytest.mark.parametrize("output", _OUTPUTS)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_applied_exactly_once(kind: str, orientation: int, output: OutputFormat) -> None:
    data = with_orientation(quadrants(96, 64), kind, orientation)
    rendering = render(data, [preset(48, 48, output=output)], LIMITS)
    image = opened(rendering.thumbnails[0].data)
    turned = orientation >= 5
    assert (rendering.width, rendering.height) == ((64, 96) if turned else (96, 64))
    assert image.size == ((32, 48) if turned else (48, 32))
    assert _corners(image) == _UPRIGHT[orientation]
    assert not image.getexif()


@settings(max_examples=60)
@given(
    st.tuples(st.integers(1, 90), st.integers(1, 90)),
    st.sampled_from(["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"]),
    st.integers(1, 8),
    st.sampled_from(["auto", "jpeg", "webp", "png"]),
    st.sampled_from(["contain", "cover"]),
)
def test_any_size_mode_and_orientation_gives_the_same_bytes_twice(
    size: tuple[int, int], mode: str, orientation: int, output: OutputFormat, fit: Fit
) -> None:
    width, height = size
    picture = Image.new("I;16", (width, height), 40_000) if mode == "I;16" else quadrants(width, height, mode)
    data = with_orientation(picture, "JPEG" if mode == "CMYK" else "PNG", orientation)
    wanted = [preset(32, 24, output=output, fit=fit)]
    rendering = render(data, wanted, LIMITS)
    thumbnail = rendering.thumbnails[0]
    assert (rendering.width, rendering.height) == ((height, width) if orientation >= 5 else (width, height))
    assert opened(thumbnail.data).size == (thumbnail.width, thumbnail.height)
    assert thumbnail.width <= min(32, rendering.width)
    assert thumbnail.height <= min(24, rendering.height)
    assert render(data, wanted, LIMITS) == rendering


def test_cover_crops_around_the_centre_of_the_upright_picture() -> None:
    picture = Image.new("RGB", (90, 30), "red")
    picture.paste("lime", (30, 0, 60, 30))
    for orientation in range(1, 9):
        data = with_orientation(picture, "PNG", orientation)
        thumbnail = render(data, [preset(30, 30, fit="cover", output="png")], LIMITS).thumbnails[0]
        assert opened(thumbnail.data).getcolors() == [(900, (0, 255, 0))]


def test_several_presets_come_from_one_decode_in_the_order_asked() -> None:
    wanted = [
        preset(16, 16, name="small"),
        preset(200, 200, name="large"),
        preset(50, 20, fit="cover", name="band"),
    ]
    rendering = render(encoded(quadrants(400, 300), "JPEG"), wanted, LIMITS)
    sizes = {thumbnail.preset: (thumbnail.width, thumbnail.height) for thumbnail in rendering.thumbnails}
    assert list(sizes.items()) == [("small", (16, 12)), ("large", (200, 150)), ("band", (50, 20))]


def test_auto_is_jpeg_unless_something_is_transparent() -> None:
    assert _content_type(quadrants(40, 30, "RGBA")) == "image/jpeg"
    half = quadrants(40, 30, "RGBA")
    half.paste((0, 0, 0, 0), (0, 0, 20, 30))
    assert _content_type(half) == "image/webp"


def _content_type(picture: Image.Image) -> str:
    return render(encoded(picture, "PNG"), [preset()], LIMITS).thumbnails[0].content_type


def test_transparency_becomes_white_in_a_jpeg() -> None:
    for mode, empty in (("RGBA", (0, 0, 0, 0)), ("LA", (0, 0))):
        image = _rendered(encoded(Image.new(mode, (40, 40), empty), "PNG"), "jpeg").convert("RGB")
        assert image.getextrema() == ((255, 255),) * 3


def test_colours_of_transparent_pixels_do_not_bleed() -> None:
    picture = Image.new("RGBA", (64, 64), (0, 255, 0, 0))
    picture.paste((255, 0, 0, 255), (0, 0, 31, 64))
    image = _rendered(encoded(picture, "PNG"), width=8, height=8)
    visible = [pixel for pixel in image.get_flattened_data() if isinstance(pixel, tuple) and pixel[3] > 40]
    assert visible
    assert max(pixel[1] for pixel in visible) <= 8


def test_sixteen_bits_are_scaled_not_clipped() -> None:
    image = _rendered(encoded(Image.new("I;16", (2000, 900), 0x8040), "PNG"))
    assert image.getextrema() == (128, 128)


def test_single_bits_and_palettes_are_averaged() -> None:
    checks = Image.new("1", (64, 64))
    checks.putdata([(x + y) % 2 * 255 for y in range(64) for x in range(64)])
    for picture in (checks, checks.convert("P")):
        image = _rendered(encoded(picture, "PNG"), width=8, height=8).convert("L")
        levels = np.asarray(image)
        assert 120 <= levels.min() <= levels.max() <= 136


@pytest.mark.parametrize(
    ("depth", "colour", "samples", "key"),
    [
        (8, 2, b"\x10\x20\x30", b"\0\x10\0\x20\0\x30"),
        (16, 2, b"\x10\x01\x20\x02\x30\x03", b"\x10\x01\x20\x02\x30\x03"),
        (8, 0, b"\x44", b"\0\x44"),
        (16, 0, b"\x44\x55", b"\x44\x55"),
    ],
)
def test_a_transparent_colour_is_transparent_at_every_depth(
    depth: int, colour: int, samples: bytes, key: bytes
) -> None:
    rows = (b"\0" + samples * 8) * 8
    data = png(8, 8, rows, depth=depth, colour=colour, before=[png_chunk(b"tRNS", key)])
    assert _rendered(data).convert("RGBA").getchannel("A").getextrema() == (0, 0)


def test_a_transparent_grey_of_four_bits_is_transparent() -> None:
    data = png(8, 8, (b"\0" + b"\x55" * 4) * 8, depth=4, colour=0, before=[png_chunk(b"tRNS", b"\0\x05")])
    assert _rendered(data).convert("RGBA").getchannel("A").getextrema() == (0, 0)


def test_a_large_picture_is_reduced_in_strips_without_seams() -> None:
    picture = Image.linear_gradient("L").resize((2048, 2048)).convert("RGBA")
    picture.putalpha(254)
    image = _rendered(encoded(picture, "PNG", compress_level=1), width=64, height=64).convert("RGBA")
    column = [image.getpixel((32, y)) for y in range(64)]
    assert [pixel[3] for pixel in column if isinstance(pixel, tuple)] == [254] * 64
    levels = [pixel[0] for pixel in column if isinstance(pixel, tuple)]
    steps = [after - before for before, after in pairwise(levels)]
    assert min(steps) >= 2
    assert max(steps) <= 6


def test_a_large_picture_is_never_converted_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[int] = []

    def spy(strip: Image.Image) -> Image.Image:
        converted.append(strip.width * strip.height)
        return levels(strip)

    levels = shrink._levels
    monkeypatch.setattr(shrink, "_levels", spy)
    _rendered(encoded(Image.new("RGBA", (3000, 2000)), "PNG", compress_level=1))
    assert sum(converted) == 3000 * 2000
    assert max(converted) <= 1 << 20


def test_a_jpeg_shrunk_while_decoding_has_no_line_at_its_edges() -> None:
    picture = Image.new("RGB", (2003, 1501), (200, 40, 40))
    image = _rendered(encoded(picture, "JPEG", quality=95), width=100, height=100)
    assert max(abs(high - low) for low, high in _extrema(image)) <= 2


def test_a_jpeg_shrunk_while_decoding_is_not_squeezed() -> None:
    # 33 pixels shrink to 4.125, which the decoder rounds up to 5.
    picture = Image.linear_gradient("L").resize((33, 33))
    image = _rendered(encoded(picture, "JPEG", quality=100), width=4, height=4)
    exact = picture.resize((4, 4), Image.Resampling.LANCZOS)
    assert np.abs(np.asarray(image, dtype=int) - np.asarray(exact, dtype=int)).max() <= 6


def _extrema(image: Image.Image) -> list[tuple[float, float]]:
    return [channel.getextrema() for channel in image.convert("RGB").split()]  # type: ignore[misc]


def test_a_frame_that_leaves_the_canvas_open_shows_nothing_there() -> None:
    data = gif((40, 20), 20, 0, quadrants(20, 20))
    image = _rendered(data).convert("RGBA")
    assert image.getchannel("A").crop((0, 0, 20, 20)).getextrema() == (0, 0)
    assert _corners(image.crop((20, 0, 40, 20))) == "RGBW"


def test_only_the_first_frame_is_shown() -> None:
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "lime", "blue")]
    for kind in ("GIF", "WEBP", "PNG"):
        options = {"lossless": True} if kind == "WEBP" else {}
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=50, **options)
        assert _corners(_rendered(data)) == "RRRR"


def test_of_several_pictures_in_one_file_the_first_counts() -> None:
    rendering = render(image_file("mpo-frozenpond.mpo"), [preset()], LIMITS)
    assert rendering.source_format == "jpeg"


@pytest.mark.parametrize("output", _OUTPUTS)
def test_no_metadata_survives(output: OutputFormat) -> None:
    exif = Image.Exif()
    exif[0x010E] = "SECRET description"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = encoded(
        quadrants(400, 300),
        "JPEG",
        exif=exif.tobytes(),
        icc_profile=profile,
        comment=b"SECRET comment",
        xmp=b"<x:xmpmeta>SECRET</x:xmpmeta>",
        dpi=(123, 123),
    )
    thumbnail = render(data, [preset(output=output)], LIMITS).thumbnails[0]
    assert b"SECRET" not in thumbnail.data
    image = Image.open(BytesIO(thumbnail.data))
    assert not {"exif", "icc_profile", "xmp", "comment"} & set(image.info)
    assert image.info.get("dpi") != (123, 123)


def test_the_three_outputs_are_what_they_say() -> None:
    wanted = [preset(output=output, name=output) for output in _OUTPUTS]
    rendering = render(encoded(quadrants(400, 300), "JPEG"), wanted, LIMITS)
    found = [(opened(item.data).format, item.content_type, item.extension) for item in rendering.thumbnails]
    assert found == [
        ("JPEG", "image/jpeg", "jpg"),
        ("WEBP", "image/webp", "webp"),
        ("PNG", "image/png", "png"),
    ]


def test_a_profile_is_converted_and_a_broken_one_ignored_with_a_note() -> None:
    converted = render(image_file("icc-p3-sharp.png"), [preset()], LIMITS)
    assert converted.notes == ()
    broken = render(image_file("icc-garbage.jpg"), [preset()], LIMITS)
    assert broken.notes == (IGNORED,)


def test_a_grey_profile_keeps_a_grey_picture_grey() -> None:
    assert _rendered(image_file("icc-gray.jpg"), "jpeg").mode == "L"


def test_colour_noise_fits_the_encoder_at_any_quality() -> None:
    noise = Image.merge("RGB", [Image.effect_noise((320, 320), 200) for _ in range(3)])
    rendering: Rendering = render(encoded(noise, "PNG"), [preset(output="jpeg")], LIMITS)
    assert opened(rendering.thumbnails[0].data).size == (320, 320)
