"""Presets say what thumbnails are owed; limits say what a picture may cost before it is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

Fit = Literal["contain", "cover"]
OutputFormat = Literal["auto", "jpeg", "webp", "png", "avif"]

DEFAULT_PRESET_NAME = "thumbnail"
PRESET_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True)
class Preset:
    """One owed thumbnail: a box in pixels, how to fill it, and how to write it.

    `contain` fits the whole picture inside the box; `cover` fills the box and crops around the centre.
    Neither enlarges. `auto` writes JPEG, or WebP where the picture has transparency.
    """

    name: str
    width: int
    height: int
    fit: Fit
    format: OutputFormat
    quality: int

    def __post_init__(self) -> None:
        if not PRESET_NAME_PATTERN.fullmatch(self.name):
            raise ValueError(f"preset name {self.name!r} must match {PRESET_NAME_PATTERN.pattern}")
        if not (1 <= self.width <= 4096 and 1 <= self.height <= 4096):
            raise ValueError(f"preset {self.name}: width and height must be 1 to 4096 pixels")
        if self.fit not in ("contain", "cover"):
            raise ValueError(f"preset {self.name}: fit must be contain or cover, not {self.fit!r}")
        if self.format not in get_args(OutputFormat):
            choices = ", ".join(get_args(OutputFormat))
            raise ValueError(f"preset {self.name}: format must be one of {choices}, not {self.format!r}")
        if not 1 <= self.quality <= 100:
            raise ValueError(f"preset {self.name}: quality must be 1 to 100")

    def to_record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Raises TypeError for a missing or unknown field and ValueError for a bad value."""
        fields = dict(record)
        for number in ("width", "height", "quality"):
            if number in fields:
                fields[number] = int(fields[number])
        return cls(**fields)


DEFAULT_PRESET = Preset(
    name=DEFAULT_PRESET_NAME, width=320, height=320, fit="contain", format="auto", quality=80
)


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What one picture may cost. The first three are checked on the header, before any pixel is decoded."""

    max_pixels: int
    max_frames: int
    max_scan_megapixels: int
    """Scans x megapixels of a progressive JPEG: decoding cost grows with their product."""
    cpu_seconds: int
    memory_bytes: int
    wall_seconds: int
