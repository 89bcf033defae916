"""The formats that are decoded, one entry each. A new one needs a structure module and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PIL import GifImagePlugin, Image, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

from thumbline.adapters.pillow import (
    gif_structure,
    jpeg_structure,
    png_completeness,
    png_structure,
    webp_structure,
)
from thumbline.adapters.pillow.source import Source

_PLUGINS = (GifImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin)
"""Imported by name: `Image.open` would import every plugin there is to find one that is missing."""


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """How one format is recognised, read and decoded."""

    name: str
    label: str
    """How sentences call it."""
    pillow_name: str
    """Restricts `Image.open` to this one decoder."""
    matches: Callable[[bytes], bool]
    inspect: Callable[[bytes], Source]
    is_complete: Callable[[bytes, Image.Image], bool] | None = None
    """Only for a decoder that does not say when the picture data ends early."""
    shrinks_while_decoding: bool = False


SOURCE_FORMATS = (
    SourceFormat(
        name="jpeg",
        label="JPEG",
        pillow_name="JPEG",
        matches=lambda data: data.startswith(jpeg_structure.SIGNATURE),
        inspect=jpeg_structure.inspect,
        shrinks_while_decoding=True,
    ),
    SourceFormat(
        name="png",
        label="PNG",
        pillow_name="PNG",
        matches=lambda data: data.startswith(png_structure.SIGNATURE),
        inspect=png_structure.inspect,
        is_complete=png_completeness.is_complete,
    ),
    SourceFormat(
        name="webp",
        label="WebP",
        pillow_name="WEBP",
        matches=webp_structure.matches,
        inspect=webp_structure.inspect,
    ),
    SourceFormat(
        name="gif",
        label="GIF",
        pillow_name="GIF",
        matches=lambda data: data.startswith(gif_structure.SIGNATURES),
        inspect=gif_structure.inspect,
    ),
)
