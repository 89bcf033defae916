"""Where a thumbnail comes from and how large it becomes. Pure arithmetic, in stored (unturned) axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thumbline.domain.presets import Preset

Size = tuple[int, int]

_SWAPS_AXES = frozenset({5, 6, 7, 8})


@dataclass(frozen=True, slots=True)
class Framing:
    """`size`: the thumbnail in pixels, still unturned. `region`: the part of the stored picture it shows,
    left, top, right and bottom in source pixels. A centred region is the same in every orientation."""

    preset: Preset
    size: Size
    region: tuple[float, float, float, float]
    scale: float
    """Target pixels for one source pixel, before rounding; at most 1."""


def display_size(stored: Size, orientation: int) -> Size:
    width, height = stored
    return (height, width) if orientation in _SWAPS_AXES else (width, height)


def frame(stored: Size, orientation: int, preset: Preset) -> Framing:
    """Fits the preset's box, which is meant for the upright picture, to the stored one. Never enlarges.

    `cover` fills the box; where the picture is smaller than the box, it fills the picture's own side.
    """
    width, height = stored
    box_width, box_height = display_size((preset.width, preset.height), orientation)
    if preset.fit == "contain":
        scale = min(1.0, box_width / width, box_height / height)
        return Framing(preset, _scaled(stored, scale), (0.0, 0.0, width, height), scale)
    size = (min(box_width, width), min(box_height, height))
    scale = max(size[0] / width, size[1] / height)
    left = max(0.0, (width - size[0] / scale) / 2)
    top = max(0.0, (height - size[1] / scale) / 2)
    return Framing(preset, size, (left, top, width - left, height - top), scale)


def smallest_useful_size(stored: Size, framings: Sequence[Framing]) -> Size:
    """How small the decoder may make the whole picture without starving any of the thumbnails."""
    return _scaled(stored, max(framing.scale for framing in framings))


def _scaled(size: Size, scale: float) -> Size:
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
