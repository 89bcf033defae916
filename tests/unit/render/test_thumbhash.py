"""The placeholder, against hashes that the reference implementation (thumbhash 0.1.1 of npm) gave."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest
from PIL import Image

from tests.unit.render.pictures import LIMITS, encoded, preset, quadrants
from thumbline.adapters.pillow.impression import dominant_colour, placeholder
from thumbline.adapters.pillow.recipe import render
from thumbline.adapters.pillow.thumbhash import thumbhash


def _pattern(width: int, height: int, alpha: str) -> bytes:
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            opacity = {"opaque": 255, "clear": 0, "varied": (x * 11 + y * 13) % 256}[alpha]
            pixels += bytes(((x * 7 + y * 3) % 256, (x * x + y) % 256, (767 - 5 * y + 2 * x) % 256, opacity))
    return bytes(pixels)


@pytest.mark.parametrize(
    ("width", "height", "alpha", "expected"),
    [
        (1, 1, "opaque", "FQAq/wEI9wiIh4hwj3CI+AiIcH/4AAAA"),
        (32, 20, "opaque", "4DYKbIhBdomQeXhliVhgXApuZQ=="),
        (20, 32, "varied", "XiaGIwQYQLNIezhgRY8vZ1aHZ3hpdGA="),
        (100, 75, "opaque", "HwgGFYKYdUZmVwiza1WgWQFW7d9E"),
        (32, 1, "opaque", "1BkqgYp1h4iIiAiKZIgAjic="),
        (5, 5, "clear", "AAiCBQAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
    ],
)
def test_the_hash_is_the_reference_s(width: int, height: int, alpha: str, expected: str) -> None:
    assert b64encode(thumbhash(width, height, _pattern(width, height, alpha))).decode() == expected


def test_a_picture_above_the_reference_s_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="101 x 1 pixels"):
        thumbhash(101, 1, bytes(404))


def test_the_dominant_colour_is_that_of_the_largest_group_of_visible_pixels() -> None:
    picture = Image.new("RGBA", (10, 10), (10, 200, 30, 255))
    picture.paste((250, 10, 10, 255), (0, 0, 10, 4))
    picture.paste((0, 0, 255, 0), (0, 0, 7, 10))
    assert dominant_colour(picture) == "#0ac81e"
    assert dominant_colour(Image.new("RGBA", (2, 2), (1, 2, 3, 0))) == "#010203"
    assert dominant_colour(Image.new("L", (2, 2), 77)) == "#4d4d4d"


def test_equals_are_decided_by_order_not_by_chance() -> None:
    picture = Image.new("RGB", (2, 1), (200, 0, 0))
    picture.putpixel((1, 0), (0, 0, 200))
    mirrored = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    assert dominant_colour(picture) == dominant_colour(mirrored) == "#0000c8"


def test_a_rendering_says_what_the_picture_looks_like() -> None:
    rendering = render(encoded(Image.new("RGB", (400, 100), (10, 200, 30)), "PNG"), [preset()], LIMITS)
    assert rendering.dominant_colour == "#0ac81e"
    # The header tells a landscape picture.
    assert b64decode(rendering.placeholder)[4] & 0x80
    upright = render(encoded(quadrants(100, 400), "PNG"), [preset()], LIMITS)
    assert not b64decode(upright.placeholder)[4] & 0x80
    assert placeholder(Image.new("RGB", (4, 3), "red")) != placeholder(Image.new("RGB", (4, 3), "blue"))


def test_the_impression_is_of_the_whole_picture_even_where_the_preset_crops() -> None:
    picture = Image.new("RGB", (300, 100), "red")
    picture.paste("blue", (100, 0, 200, 100))
    data = encoded(picture, "PNG")
    cropped = render(data, [preset(50, 50, fit="cover")], LIMITS)
    assert cropped.dominant_colour == "#ff0000"
    assert cropped.placeholder == render(data, [preset()], LIMITS).placeholder
