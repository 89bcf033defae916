"""The formats that are decoded. A new one needs a type in `domain/signatures.py`, a structure module and an
entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pi_heif  # type: ignore[import-untyped]
from PIL import (
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from thumbline.adapters.pillow import (
    bmp_structure,
    gif_structure,
    heif_structure,
    jpeg_structure,
    png_completeness,
    png_structure,
    tiff_structure,
    webp_structure,
)
from thumbline.adapters.pillow.source import Source
from thumbline.domain import signatures
from thumbline.domain.errors import FailureCode
from thumbline.domain.signatures import PictureType

_PLUGINS = (
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
"""Imported by name: `Image.open` would import every plugin there is to find one that is missing."""

# One processor is all that a picture gets, and every thread would claim address space of its own.
AvifImagePlugin.DEFAULT_MAX_THREADS = 1
pi_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=0)


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """How one type is read and decoded."""

    kind: PictureType
    pillow_name: str
    """Restricts `Image.open` to this one decoder."""
    inspect: Callable[[bytes], Source]
    is_complete: Callable[[bytes, Image.Image], bool] | None = None
    """Only for a decoder that does not say when the picture data ends early."""
    shrinks_while_decoding: bool = False
    code_when_not_opened: FailureCode = FailureCode.CORRUPT
    """What it means that the decoder turns away from a picture whose structure is sound."""

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def label(self) -> str:
        return self.kind.label


SOURCE_FORMATS = (
    SourceFormat(signatures.JPEG, "JPEG", jpeg_structure.inspect, shrinks_while_decoding=True),
    SourceFormat(signatures.PNG, "PNG", png_structure.inspect, png_completeness.is_complete),
    SourceFormat(signatures.WEBP, "WEBP", webp_structure.inspect),
    SourceFormat(signatures.GIF, "GIF", gif_structure.inspect),
    SourceFormat(signatures.AVIF, "AVIF", heif_structure.inspect_avif),
    SourceFormat(signatures.HEIC, "HEIF", heif_structure.inspect_heic),
    SourceFormat(
        signatures.TIFF,
        "TIFF",
        tiff_structure.inspect,
        code_when_not_opened=FailureCode.UNSUPPORTED_TYPE,
    ),
    SourceFormat(
        signatures.BMP, "BMP", bmp_structure.inspect, code_when_not_opened=FailureCode.UNSUPPORTED_TYPE
    ),
)
