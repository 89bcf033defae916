"""A renderer whose outcome a test decides by the original's first bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thumbline.domain.presets import Preset
from thumbline.ports.renderer import Rendering, Thumbnail


@dataclass(slots=True)
class MemoryRenderer:
    """ "Renders" by prefixing the preset's name. `behaviours` maps an original to what happens instead.

    A behaviour is called before the rendering; it may raise, advance a clock or change a table.
    """

    behaviours: dict[bytes, Callable[[], None]] = field(default_factory=dict)
    rendered: list[bytes] = field(default_factory=list)

    def render(self, original: bytes, presets: Sequence[Preset], *, wall_seconds: float) -> Rendering:
        self.rendered.append(original)
        behaviour = self.behaviours.get(original)
        if behaviour is not None:
            behaviour()
        if wall_seconds <= 0:
            raise ValueError("wall_seconds must be positive")
        thumbnails = tuple(_thumbnail(original, preset) for preset in presets)
        return Rendering("jpeg", 640, 480, thumbnails, dominant_colour="#336699", placeholder="1QcSHQRnh493")


def _thumbnail(original: bytes, preset: Preset) -> Thumbnail:
    data = preset.name.encode() + b":" + original
    return Thumbnail(
        preset=preset.name,
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        width=min(640, preset.width),
        height=min(480, preset.height),
        content_type="image/jpeg",
        extension="jpg",
    )
