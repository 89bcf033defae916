"""Writes a finished picture: pixels only, no metadata, the same bytes for the same pixels."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO

from PIL import Image

from thumbline.domain.presets import Preset
from thumbline.ports.renderer import Thumbnail

_WHITE = 255
_FULL_COLOUR_BELOW = 16
"""Pixels of the shorter side: one block of the JPEG's coding."""
_AVIF_SPEED = 8
"""Of 0 to 10: at thumbnail sizes 6 takes four times as long for bytes that nobody would miss."""
_CONTENT_TYPES = {
    "jpeg": ("image/jpeg", "jpg"),
    "webp": ("image/webp", "webp"),
    "png": ("image/png", "png"),
    "avif": ("image/avif", "avif"),
}


def encode(image: Image.Image, preset: Preset) -> Thumbnail:
    """L, LA, RGB or RGBA in. `auto` means WebP where there is transparency, otherwise JPEG.

    JPEG knows no transparency: what is transparent becomes white.
    """
    has_alpha = image.mode in ("LA", "RGBA")
    target = preset.format
    if target == "auto":
        target = "webp" if has_alpha else "jpeg"
    # A copy's `info` still carries the original's comment, which Pillow would write again.
    image.info = {}
    output = BytesIO()
    if target == "jpeg":
        picture = _on_white(image) if has_alpha else image
        # In a picture of a few pixels, colours shared by four of them are wrong in most.
        subsampling = "4:4:4" if min(picture.size) < _FULL_COLOUR_BELOW else "4:2:0"
        # Not progressive: at these sizes it costs three times as much to write and saves nothing.
        picture.save(output, "JPEG", quality=preset.quality, optimize=True, subsampling=subsampling)
    elif target == "webp":
        image.convert("RGBA" if has_alpha else "RGB").save(output, "WEBP", quality=preset.quality, method=4)
    elif target == "avif":
        # One thread: more would change the bytes with the machine.
        picture = image.convert("RGBA" if has_alpha else "RGB")
        picture.save(output, "AVIF", quality=preset.quality, speed=_AVIF_SPEED, max_threads=1)
    else:
        image.save(output, "PNG")
    data = output.getvalue()
    content_type, extension = _CONTENT_TYPES[target]
    return Thumbnail(
        preset=preset.name,
        data=data,
        sha256=sha256(data).hexdigest(),
        width=image.width,
        height=image.height,
        content_type=content_type,
        extension=extension,
    )


def _on_white(image: Image.Image) -> Image.Image:
    mode = "L" if image.mode == "LA" else "RGB"
    background = Image.new(mode, image.size, _WHITE if mode == "L" else (_WHITE, _WHITE, _WHITE))
    background.paste(image.convert(mode), mask=image.getchannel("A"))
    return background
