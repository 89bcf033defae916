"""Real files against what several decoders agree on: sizes, colours, transparency, refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.unit.render.pictures import IMAGES, LIMITS, image_file, opened, preset
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.errors import FailureCode, PermanentError

_EXPECTED: dict[str, Any] = json.loads((IMAGES / "expected.json").read_text())
_GOOD = sorted(name for name, expected in _EXPECTED.items() if "refused" not in expected)
_BAD = sorted(name for name, expected in _EXPECTED.items() if "refused" in expected)
_CELLS = 4
_CODES = {
    "too_large": {FailureCode.TOO_MANY_PIXELS},
    "truncated": {FailureCode.TRUNCATED},
    "malformed": {FailureCode.CORRUPT},
}


def _cells(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(Image.fromarray(pixels).resize((_CELLS, _CELLS), Image.Resampling.BOX))


def _colour_and_alpha(image: Image.Image) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Mean colours of visible pixels, and mean opacity, in a 4 x 4 grid."""
    pixels = np.asarray(image.convert("RGBA")).astype(np.float32)
    opacity = pixels[..., 3] / np.float32(255)
    alpha = _cells(opacity)
    colours = [_cells(pixels[..., band] * opacity) / np.maximum(alpha, 0.02) for band in range(3)]
    return np.stack(colours, axis=-1), alpha


@pytest.mark.parametrize("name", _GOOD)
def test_a_real_picture_keeps_its_size_colours_and_transparency(name: str) -> None:
    expected = _EXPECTED[name]
    rendering = render(image_file(name), [preset()], LIMITS)
    assert [rendering.width, rendering.height] == expected["size"]
    thumbnail = rendering.thumbnails[0]
    image = opened(thumbnail.data)
    assert image.size == (thumbnail.width, thumbnail.height)
    if expected["grids"] is None:
        return
    colours, alpha = _colour_and_alpha(image)
    wanted_alpha = np.array(expected["alpha_grid"])
    distances = []
    for grid in expected["grids"]:
        wanted = np.array([[cell or [np.nan] * 3 for cell in row] for row in grid], dtype=np.float32)
        visible = (wanted_alpha >= 0.5) & ~np.isnan(wanted[..., 0])
        distances.append(float(np.abs(colours - wanted)[visible].max(initial=0)))
    assert min(distances) <= expected["tolerance"]
    assert np.abs(alpha - wanted_alpha).max() <= 0.12
    if expected["alpha"] == "partial":
        assert thumbnail.content_type == "image/webp"
    elif expected["alpha"] == "none":
        assert thumbnail.content_type == "image/jpeg"


@pytest.mark.parametrize("name", _BAD)
def test_a_damaged_or_excessive_file_is_refused_with_its_code(name: str) -> None:
    with pytest.raises(PermanentError) as refusal:
        render(image_file(name), [preset()], LIMITS)
    assert refusal.value.code in _CODES[_EXPECTED[name]["refused"]]


def test_every_picture_is_described_and_licensed() -> None:
    files = {path.name for path in IMAGES.iterdir()} - {"expected.json", "LICENCES.md"}
    assert files == set(_EXPECTED)
    licences = (IMAGES / "LICENCES.md").read_text()
    assert not [name for name in files if f"`{name}`" not in licences]
