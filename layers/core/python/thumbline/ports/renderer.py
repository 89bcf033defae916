"""The renderer: an original's bytes and the owed presets in, finished thumbnails out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thumbline.domain.presets import Preset


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """One finished output. `sha256` is the hex digest of `data`; sizes are in pixels."""

    preset: str
    data: bytes
    sha256: str
    width: int
    height: int
    content_type: str
    extension: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """What came of one original. `width` and `height` are its display size, after orientation.

    `dominant_colour`: `#rrggbb`; `placeholder`: a ThumbHash in base 64; `notes`: sentences for the client.
    """

    source_format: str
    width: int
    height: int
    thumbnails: tuple[Thumbnail, ...]
    dominant_colour: str
    placeholder: str
    notes: tuple[str, ...] = ()


class Renderer(Protocol):
    def render(self, original: bytes, presets: Sequence[Preset], *, wall_seconds: float) -> Rendering:
        """Renders every preset from one decode, within `wall_seconds` of real time.

        Raises PermanentError (the picture is at fault) or TransientError (crash or wall-clock time-out).
        """
        ...
