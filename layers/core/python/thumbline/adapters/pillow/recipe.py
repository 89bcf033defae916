"""One original in, its thumbnails out: the order of the steps, and why it is this one.

Identify → read the structure → refuse what is too dear → decode once, as small as the largest thumbnail
allows → reduce → and for each preset, on the small picture alone: resample, colour, turn, encode.
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageChops

from thumbline.adapters.pillow.admission import admit, admit_memory
from thumbline.adapters.pillow.colour import ToSrgb
from thumbline.adapters.pillow.decode import Decoded, decode, decoded_pixels
from thumbline.adapters.pillow.encode import encode
from thumbline.adapters.pillow.framing import Framing, Size, display_size, frame, smallest_useful_size
from thumbline.adapters.pillow.identify import identify
from thumbline.adapters.pillow.impression import IMPRESSION_SIDE, dominant_colour, placeholder
from thumbline.adapters.pillow.shrink import on_canvas, reduced
from thumbline.adapters.pillow.source import Source
from thumbline.domain.presets import Preset, RenderLimits
from thumbline.ports.renderer import Rendering

REDUCING_GAP = 2.0
"""Block averaging stops at twice the target, Lanczos does the rest: 3.0 is finer, and slower."""

_IMPRESSION = Preset("impression", IMPRESSION_SIDE, IMPRESSION_SIDE, "contain", "png", 100)
"""Not an output: what the dominant colour and the placeholder are computed from."""

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""EXIF orientation → what makes it upright."""


def render(original: bytes, presets: Sequence[Preset], limits: RenderLimits) -> Rendering:
    """Raises PermanentError where the picture is at fault. Everything else it raises is a defect of ours."""
    source_format = identify(original)
    source = source_format.inspect(original)
    admit(source, limits)
    stored = (source.width, source.height)
    framings = [frame(stored, source.orientation, preset) for preset in presets]
    wanted = smallest_useful_size(stored, framings)
    admit_memory(source, decoded_pixels(source_format, source, wanted), limits)
    decoded = decode(source_format, source, wanted, limits.memory_bytes)
    master = _master(decoded, source, framings)
    to_srgb = ToSrgb(source.icc_profile, {"La": "L", "RGBa": "RGB"}.get(master.image.mode, master.image.mode))

    def finished(framing: Framing) -> Image.Image:
        return _upright(to_srgb.apply(_resampled(master, framing, stored)), source.orientation)

    thumbnails = [encode(finished(framing), framing.preset) for framing in framings]
    impression = finished(frame(stored, source.orientation, _IMPRESSION))
    width, height = display_size(stored, source.orientation)
    return Rendering(
        source_format=source.format_name,
        width=width,
        height=height,
        thumbnails=tuple(thumbnails),
        dominant_colour=dominant_colour(impression),
        placeholder=placeholder(impression),
        notes=source.notes + to_srgb.notes,
    )


def _master(decoded: Decoded, source: Source, framings: Sequence[Framing]) -> Decoded:
    """The picture that every thumbnail is resampled from, so that none inherits another one's losses."""
    if source.frame_box is not None:
        canvas = on_canvas(decoded.image, source.frame_box, (source.width, source.height))
        decoded = Decoded(canvas, canvas.width, canvas.height)
    scale = max(framing.scale for framing in framings)
    columns = max(1, int(decoded.width / (source.width * scale) / REDUCING_GAP))
    rows = max(1, int(decoded.height / (source.height * scale) / REDUCING_GAP))
    # A side that is only a few pixels long is not averaged away.
    factors = (min(columns, decoded.image.width), min(rows, decoded.image.height))
    image = reduced(decoded.image, factors)
    if source.is_negative:
        image = ImageChops.invert(image)
    return Decoded(image, decoded.width / factors[0], decoded.height / factors[1])


def _resampled(master: Decoded, framing: Framing, stored: Size) -> Image.Image:
    """The framed region at its final size, straight alpha, and no alpha where nothing is transparent."""
    across, down = master.width / stored[0], master.height / stored[1]
    left, top, right, bottom = framing.region
    box = (
        left * across,
        top * down,
        min(right * across, master.image.width),
        min(bottom * down, master.image.height),
    )
    small = master.image.resize(framing.size, Image.Resampling.LANCZOS, box, REDUCING_GAP)
    if small.mode not in ("La", "RGBa"):
        return small
    straight = small.convert("LA" if small.mode == "La" else "RGBA")
    if straight.getchannel("A").getextrema() == (255, 255):
        return straight.convert("L" if small.mode == "La" else "RGB")
    return straight


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    turn = _TURNS.get(orientation)
    return image if turn is None else image.transpose(turn)
