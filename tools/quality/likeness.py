"""A reference made with care and without hurry, and how like it a thumbnail is."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.floating[Any]]

_WINDOW = 8
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
"""The constants of Wang, Bovik, Sheikh and Simoncelli, 2004."""
_LUMA = (0.2126, 0.7152, 0.0722)


def linear_reference(image: Image.Image, size: tuple[int, int]) -> Pixels:
    """The picture resampled in linear light in floating point, alpha multiplied in, laid on white."""
    rgba = np.asarray(image.convert("RGBA"), dtype=np.float32) / 255
    alpha = rgba[..., 3]
    small_alpha = np.clip(_resampled(alpha, size), 0, 1)
    bands = []
    for band in range(3):
        light = _resampled(_to_linear(rgba[..., band]) * alpha, size)
        straight = np.clip(light / np.maximum(small_alpha, 1e-4), 0, 1)
        # Flattening happens in coded values, as it does wherever a browser shows the thumbnail.
        bands.append(_to_coded(straight) * small_alpha + (1 - small_alpha))
    return np.stack(bands, axis=-1).astype(np.float32) * 255


def shown(thumbnail: bytes) -> Pixels:
    """A finished thumbnail as it is seen on white."""
    image = Image.open(BytesIO(thumbnail)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    return np.asarray(Image.alpha_composite(white, image).convert("RGB"), dtype=np.float32)


def ssim(first: Pixels, second: Pixels) -> float:
    """Mean structural similarity of the luma in windows of 8 x 8 pixels; 1 is the same picture."""
    a, b = (_windows(pixels @ np.array(_LUMA, dtype=np.float32)) for pixels in (first, second))
    mean_a, mean_b = a.mean((-2, -1)), b.mean((-2, -1))
    variance_a, variance_b = a.var((-2, -1)), b.var((-2, -1))
    covariance = (a * b).mean((-2, -1)) - mean_a * mean_b
    likeness = ((2 * mean_a * mean_b + _C1) * (2 * covariance + _C2)) / (
        (mean_a**2 + mean_b**2 + _C1) * (variance_a + variance_b + _C2)
    )
    return float(likeness.mean())


def _windows(luma: Pixels) -> NDArray[np.float64]:
    side = min(_WINDOW, *luma.shape)
    return sliding_window_view(luma.astype(np.float64), (side, side))


def _resampled(band: Pixels, size: Sequence[int]) -> Pixels:
    image = Image.fromarray(np.ascontiguousarray(band, dtype=np.float32))
    return np.asarray(image.resize((size[0], size[1]), Image.Resampling.LANCZOS))


def _to_linear(coded: Pixels) -> Pixels:
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def _to_coded(linear: Pixels) -> Pixels:
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)
