"""The pictures that are measured: made from a formula, so that everybody measures the same ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw

_WIDTH, _HEIGHT = 4000, 3000
_TEXT = "The quick brown fox jumps over the lazy dog. 0123456789"


@dataclass(frozen=True, slots=True)
class Subject:
    """`kind`: as the table calls it; `data`: the file; `truth`: its pixels, in sRGB."""

    kind: str
    data: bytes
    truth: Image.Image


def subjects() -> list[Subject]:
    photo, text = _photo(), _text()
    veiled = photo.copy()
    veiled.putalpha(Image.radial_gradient("L").resize(photo.size))
    made: list[tuple[str, Image.Image, Callable[[Image.Image], bytes]]] = [
        ("JPEG", photo, _saved("JPEG", quality=90)),
        ("JPEG, progressive", photo, _saved("JPEG", quality=90, progressive=True)),
        ("JPEG, CMYK", photo.convert("CMYK"), _saved("JPEG", quality=90)),
        ("PNG, photo", photo, _saved("PNG", compress_level=1)),
        ("PNG, transparent", veiled, _saved("PNG", compress_level=1)),
        ("PNG, palette", text.quantize(16, Image.Quantize.FASTOCTREE), _saved("PNG")),
        ("PNG, text", text, _saved("PNG")),
        ("GIF", photo.resize((1600, 1200)).quantize(256, Image.Quantize.FASTOCTREE), _saved("GIF")),
        ("WebP", photo, _saved("WEBP", quality=85, method=0)),
        ("AVIF", photo, _saved("AVIF", quality=75, speed=10)),
        ("TIFF, LZW", photo, _saved("TIFF", compression="tiff_lzw")),
        ("BMP", photo, _saved("BMP")),
    ]
    return [_subject(kind, save(image)) for kind, image, save in made]


def _subject(kind: str, data: bytes) -> Subject:
    """The truth is what a full decode shows: the losses of the original's own coding are not ours."""
    decoded = Image.open(BytesIO(data))
    return Subject(kind, data, decoded.convert("RGBA" if "A" in decoded.mode else "RGB"))


def _saved(kind: str, **options: object) -> Callable[[Image.Image], bytes]:
    def save(image: Image.Image) -> bytes:
        output = BytesIO()
        image.save(output, kind, **options)
        return output.getvalue()

    return save


def _photo() -> Image.Image:
    """Twelve megapixels with a photo's spectrum: detail falls with its frequency, colours vary less."""
    chance = np.random.default_rng(20)
    across = np.fft.rfftfreq(_WIDTH)[None, :]
    down = np.fft.fftfreq(_HEIGHT)[:, None]
    fall = 1 / np.maximum(np.hypot(across, down), 1 / _WIDTH) ** 1.2
    bands = []
    for weight in (1.0, 0.35, 0.35):
        phases = np.exp(2j * np.pi * chance.random((_HEIGHT, _WIDTH // 2 + 1)))
        band = np.fft.irfft2(phases * fall, (_HEIGHT, _WIDTH))
        bands.append(weight * band / band.std())
    light, warm, green = bands
    rgb = np.stack([light + warm, light + green, light - warm], axis=-1)
    return Image.fromarray(np.clip(118 + 52 * rgb, 0, 255).astype(np.uint8))


def _text() -> Image.Image:
    """A page of black letters and thin coloured lines: what averaging in coded values darkens."""
    page = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
    draw = ImageDraw.Draw(page)
    for row, top in enumerate(range(40, _HEIGHT, 90)):
        draw.text((60, top), _TEXT * 2, fill="black", font_size=28 + 12 * (row % 4))
    for column in range(0, _WIDTH, 250):
        draw.line((column, 0, column + 400, _HEIGHT), fill=(200, 30, 30), width=3)
    return page
