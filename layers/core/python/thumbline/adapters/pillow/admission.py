"""Refuses, before any pixel is decoded, what would cost more than the limits allow."""

from __future__ import annotations

from thumbline.adapters.pillow.source import Source
from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.presets import RenderLimits

RESERVED_BYTES = 96 << 20
"""The interpreter with its libraries (30 to 60 MB of address space), the reduced picture and the outputs."""


def admit(source: Source, limits: RenderLimits) -> None:
    """Raises PermanentError: too_many_pixels, too_many_frames, too_complex (scans) or truncated."""
    _admit_size(source.width, source.height, limits)
    if source.frame_box is not None:
        left, top, right, bottom = source.frame_box
        _admit_size(right - left, bottom - top, limits)
    if source.frames > limits.max_frames:
        raise PermanentError(
            FailureCode.TOO_MANY_FRAMES,
            f"The animation has {source.frames} frames; the limit is {limits.max_frames}.",
        )
    if source.scans * source.megapixels > limits.max_scan_megapixels:
        raise PermanentError(
            FailureCode.TOO_COMPLEX,
            f"The JPEG stores {source.megapixels:.1f} megapixels in {source.scans} scans; "
            f"the limit is {limits.max_scan_megapixels} for megapixels times scans.",
        )
    if source.shortfall is not None:
        raise PermanentError(FailureCode.TRUNCATED, source.shortfall)


def admit_memory(source: Source, decoded_pixels: int, limits: RenderLimits) -> None:
    """`decoded_pixels`: what the decoder will hand out after shrinking. Raises PermanentError too_complex."""
    needed_bytes = needed_memory_bytes(source, decoded_pixels)
    if needed_bytes > limits.memory_bytes:
        raise PermanentError(
            FailureCode.TOO_COMPLEX,
            f"Decoding this {source.format_name.upper()} of {source.megapixels:.1f} megapixels needs about "
            f"{needed_bytes >> 20} MiB of memory; the limit is {limits.memory_bytes >> 20} MiB.",
        )


def needed_memory_bytes(source: Source, decoded_pixels: int) -> int:
    """An upper estimate for the whole process; the original is held twice: as it came, and its essence."""
    return (
        RESERVED_BYTES
        + 2 * len(source.essence)
        + source.fixed_bytes
        + decoded_pixels * source.bytes_per_pixel
    )


def _admit_size(width: int, height: int, limits: RenderLimits) -> None:
    if width * height > limits.max_pixels:
        raise PermanentError(
            FailureCode.TOO_MANY_PIXELS,
            f"The picture is too large: {width} x {height} pixels are {width * height / 1_000_000:.1f} "
            f"megapixels; the limit is {limits.max_pixels / 1_000_000:g} megapixels.",
        )
