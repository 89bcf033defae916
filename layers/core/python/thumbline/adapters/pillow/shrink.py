"""From whatever mode the decoder produced to a reduced picture in one that can be resampled.

Palettes, single bits and 16-bit grey must become levels before any averaging, and alpha must be
multiplied in, or transparent pixels' colours bleed into visible ones. Both need more memory than the
decoded picture, so it is done in strips, each reduced at once.
"""

from __future__ import annotations

from PIL import Image

from thumbline.adapters.pillow.source import Box

_STRIP_PIXELS = 1 << 20
_RESAMPLED_AS_DECODED = frozenset({"L", "RGB", "CMYK"})


def reduced(image: Image.Image, factors: tuple[int, int]) -> Image.Image:
    """Averages blocks of `factors` (columns, rows) pixels. The mode becomes L, La, RGB, RGBa or CMYK."""
    if image.mode in _RESAMPLED_AS_DECODED and "transparency" not in image.info:
        return image if factors == (1, 1) else image.reduce(factors)
    column_factor, row_factor = factors
    rows_a_strip = max(1, _STRIP_PIXELS // (image.width * row_factor)) * row_factor
    if rows_a_strip >= image.height:
        return _levels(image).reduce(factors)
    result: Image.Image | None = None
    for top in range(0, image.height, rows_a_strip):
        bottom = min(top + rows_a_strip, image.height)
        strip = _levels(image.crop((0, top, image.width, bottom))).reduce(factors)
        if result is None:
            size = (-(-image.width // column_factor), -(-image.height // row_factor))
            result = Image.new(strip.mode, size)
        result.paste(strip, (0, top // row_factor))
    assert result is not None
    return result


def on_canvas(frame: Image.Image, box: Box, canvas: tuple[int, int]) -> Image.Image:
    """Places a frame on a transparent canvas."""
    picture = Image.new("RGBA", canvas)
    picture.paste(frame.convert("RGBA"), (box[0], box[1]))
    return picture


def _levels(strip: Image.Image) -> Image.Image:
    if strip.mode in ("I;16", "I;16B"):
        strip = _high_bytes(strip)
    elif strip.mode == "1":
        strip = strip.convert("L")
    elif strip.mode == "P":
        strip = strip.convert("RGBA" if "transparency" in strip.info else "RGB")
    if "transparency" in strip.info:
        strip = strip.convert({"L": "LA", "RGB": "RGBA"}.get(strip.mode, strip.mode))
    return strip.convert({"LA": "La", "RGBA": "RGBa"}.get(strip.mode, strip.mode))


def _high_bytes(strip: Image.Image) -> Image.Image:
    """16-bit grey scaled to 8 bits (Pillow's own conversion clips)."""
    samples = strip.tobytes("raw", strip.mode)
    grey = Image.frombytes("L", strip.size, samples[0::2] if strip.mode == "I;16B" else samples[1::2])
    grey.info = dict(strip.info)
    return grey
