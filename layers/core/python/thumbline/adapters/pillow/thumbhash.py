"""ThumbHash by Evan Wallace (https://evanw.github.io/thumbhash/): a blurred picture in about 25 bytes.

A picture becomes luminance, two colour differences and perhaps transparency; of each, the lowest frequencies
of a cosine transform are kept in 4 bits. The reference sums every frequency over every pixel; here rows are
transformed before columns, which gives the same numbers for a fraction of the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, floor, pi

_MAX_SIDE = 100


@dataclass(frozen=True, slots=True)
class _Channel:
    """`mean`, the other frequencies scaled to 0 … 1, and the scale."""

    mean: float
    frequencies: list[float]
    scale: float


def thumbhash(width: int, height: int, rgba: bytes) -> bytes:
    """`rgba`: straight alpha, row by row. Raises ValueError above 100 pixels a side, like the reference."""
    if width > _MAX_SIDE or height > _MAX_SIDE:
        raise ValueError(f"{width} x {height} pixels do not fit in {_MAX_SIDE} x {_MAX_SIDE}")
    alpha = [value / 255 for value in rgba[3::4]]
    opacity = sum(alpha)
    has_alpha = opacity < width * height
    red, green, blue = (_on_mean(rgba[band::4], alpha, opacity) for band in range(3))
    luminance = [(r + g + b) / 3 for r, g, b in zip(red, green, blue, strict=True)]
    yellow_blue = [(r + g) / 2 - b for r, g, b in zip(red, green, blue, strict=True)]
    red_green = [r - g for r, g in zip(red, green, strict=True)]

    longest, most = max(width, height), 5 if has_alpha else 7
    columns = max(1, _rounded(most * width / longest))
    rows = max(1, _rounded(most * height / longest))
    size = (width, height)
    light = _transformed(luminance, size, max(3, columns), max(3, rows))
    first = _transformed(yellow_blue, size, 3, 3)
    second = _transformed(red_green, size, 3, 3)
    veil = _transformed(alpha, size, 5, 5) if has_alpha else None

    is_landscape = width > height
    colours = (
        _rounded(63 * light.mean)
        | _rounded(31.5 + 31.5 * first.mean) << 6
        | _rounded(31.5 + 31.5 * second.mean) << 12
        | _rounded(31 * light.scale) << 18
        | has_alpha << 23
    )
    shape = (
        (rows if is_landscape else columns)
        | _rounded(63 * first.scale) << 3
        | _rounded(63 * second.scale) << 9
        | is_landscape << 15
    )
    head = colours.to_bytes(3, "little") + shape.to_bytes(2, "little")
    channels = [light, first, second]
    if veil is not None:
        head += bytes((_rounded(15 * veil.mean) | _rounded(15 * veil.scale) << 4,))
        channels.append(veil)
    return head + _in_nibbles([_rounded(15 * value) for part in channels for value in part.frequencies])


def _on_mean(band: bytes, alpha: list[float], opacity: float) -> list[float]:
    """One colour from 0 to 1, laid over its own mean where it is transparent."""
    mean = sum(share / 255 * value for value, share in zip(band, alpha, strict=True))
    mean = mean / opacity if opacity else 0.0
    return [mean * (1 - share) + share / 255 * value for value, share in zip(band, alpha, strict=True)]


def _transformed(values: list[float], size: tuple[int, int], columns: int, rows: int) -> _Channel:
    width, height = size
    across = [[cos(pi / width * cx * (x + 0.5)) for x in range(width)] for cx in range(columns)]
    lines = [values[start : start + width] for start in range(0, width * height, width)]
    by_column = [[sum(map(float.__mul__, line, wave)) for line in lines] for wave in across]
    found: list[float] = []
    for cy in range(rows):
        down = [cos(pi / height * cy * (y + 0.5)) for y in range(height)]
        # Only the frequencies of a triangle are kept.
        for cx in range(columns):
            if cx * rows < columns * (rows - cy):
                found.append(sum(map(float.__mul__, by_column[cx], down)) / (width * height))
    scale = max(map(abs, found[1:]), default=0.0)
    frequencies = [0.5 + 0.5 / scale * value for value in found[1:]] if scale else found[1:]
    return _Channel(found[0], frequencies, scale)


def _in_nibbles(values: list[int]) -> bytes:
    padded = [*values, 0] if len(values) % 2 else values
    return bytes(low | high << 4 for low, high in zip(padded[::2], padded[1::2], strict=True))


def _rounded(value: float) -> int:
    """To the nearest whole number, halves up, as JavaScript rounds."""
    return floor(value + 0.5)
