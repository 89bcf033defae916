"""What an original's structure tells before any pixel is decoded."""

from __future__ import annotations

from dataclasses import dataclass

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom lie outside."""


@dataclass(frozen=True, slots=True)
class Source:
    """One original, read by its structure only. Sizes are in stored pixels, before orientation.

    `essence` is all that the decoder gets to see: the picture without metadata, further frames and
    trailing bytes, so that none of those can reach the decoder's parsers or an output.
    """

    format_name: str
    width: int
    height: int
    essence: bytes
    bytes_per_pixel: int
    """Of the decoded picture in memory."""
    orientation: int = 1
    """The EXIF tag, 1 to 8."""
    frames: int = 1
    scans: int = 1
    fixed_bytes: int = 0
    """What the decoder allocates beside the decoded picture, however far it may shrink while decoding."""
    icc_profile: bytes | None = None
    frame_box: Box | None = None
    """Where the decoded frame lies on the canvas, if it does not cover it exactly."""
    crop: Box | None = None
    """What is shown of the decoded picture, if not all of it. Width and height are those of this box."""
    decoded_size: tuple[int, int] | None = None
    """What the decoder hands out, where that is neither the size above nor the frame's."""
    is_negative: bool = False
    """The decoder hands out a negative of the picture."""
    notes: tuple[str, ...] = ()
    shortfall: str | None = None
    """A sentence, where the file is shorter than the picture that it declares. Refused only after the limits
    are checked, so that a bomb is called one."""

    @property
    def megapixels(self) -> float:
        return self.width * self.height / 1_000_000
