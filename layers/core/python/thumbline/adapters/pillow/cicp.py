"""Colour by code points (ITU-T H.273) instead of a profile: AVIF, HEIC and PNG may say it that way.

What is not sRGB gets an ICC profile made for it, so that there is one way to convert colours. High dynamic
range (PQ, HLG) is brought into standard range by the profile's curve: up to three quarters of reference white
(203 cd/m2, ITU-R BT.2408) light stays as it is, and what is brighter rolls off towards white.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp

TONE_MAPPED = "The picture has high dynamic range and was tone-mapped to standard range."

_Vector = tuple[float, float, float]

_PRIMARIES: dict[int, tuple[_Vector, _Vector, _Vector]] = {
    1: ((0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.7141)),
    9: ((0.67346, 0.27903, -0.00193), (0.16566, 0.67534, 0.02999), (0.12509, 0.04563, 0.79684)),
    12: ((0.51512, 0.2412, -0.00105), (0.29198, 0.69225, 0.04189), (0.1571, 0.06657, 0.78407)),
}
"""BT.709, BT.2020 and Display P3: red, green and blue in XYZ, adapted to D50 by Bradford's method. Every
other code is taken for BT.709."""

_LINEAR, _PQ, _HLG = 8, 16, 18
_REFERENCE_WHITE = 203.0
_KNEE = 0.75
_CURVE_POINTS = 4096


@dataclass(frozen=True, slots=True)
class Colour:
    """`profile`: an ICC profile, or None for sRGB."""

    profile: bytes | None
    notes: tuple[str, ...] = ()


def described_colour(profile: bytes | None, code_points: tuple[int, int] | None) -> Colour:
    """A profile that came with the picture goes before its code points (primaries, transfer)."""
    if profile is not None or code_points is None:
        return Colour(profile)
    primaries, transfer = code_points
    known = primaries if primaries in _PRIMARIES else 1
    if known == 1 and transfer not in (_LINEAR, _PQ, _HLG):
        return Colour(None)
    notes = (TONE_MAPPED,) if is_high_range(code_points) else ()
    return Colour(_made_profile(known, transfer), notes)


def is_high_range(code_points: tuple[int, int]) -> bool:
    return code_points[1] in (_PQ, _HLG)


def _pq(signal: float) -> float:
    """SMPTE ST 2084: the displayed light, as a multiple of reference white."""
    root = float(signal ** (1 / 78.84375))
    light = max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)
    return 10_000 * float(light ** (1 / 0.1593017578125))


def _hlg(signal: float) -> float:
    """ARIB STD-B67 on a display of 1,000 cd/m2, whose system gamma is 1.2."""
    scene = signal**2 / 3 if signal <= 0.5 else (exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12
    return 1_000 * float(scene**1.2)


def _rolled_off(light: float) -> float:
    relative = light / _REFERENCE_WHITE
    if relative <= _KNEE:
        return relative
    return _KNEE + (1 - _KNEE) * (1 - exp((_KNEE - relative) / (1 - _KNEE)))


def _srgb(signal: float) -> float:
    """IEC 61966-2-1. Video's own curves are taken for it, as browsers do."""
    return signal / 12.92 if signal <= 0.04045 else float(((signal + 0.055) / 1.055) ** 2.4)


_CURVES: dict[int, Callable[[float], float]] = {
    _LINEAR: lambda signal: signal,
    _PQ: lambda signal: _rolled_off(_pq(signal)),
    _HLG: lambda signal: _rolled_off(_hlg(signal)),
}


@cache
def _made_profile(primaries: int, transfer: int) -> bytes:
    """An ICC profile (version 2.1, matrix and curve), as ICC.1:2001-04 lays it out."""
    curve = _CURVES.get(transfer, _srgb)
    points = [round(65535 * curve(index / (_CURVE_POINTS - 1))) for index in range(_CURVE_POINTS)]
    curve_tag = struct.pack(f">4s4xI{_CURVE_POINTS}H", b"curv", _CURVE_POINTS, *points)
    tags = {b"wtpt": _xyz_tag((0.9642, 1.0, 0.8249))}
    tags |= dict(zip((b"rXYZ", b"gXYZ", b"bXYZ"), map(_xyz_tag, _PRIMARIES[primaries]), strict=True))
    tags |= dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve_tag)
    table, body = b"", b""
    places: dict[bytes, int] = {}
    first = 128 + 4 + 12 * len(tags)
    for name, tag in tags.items():
        if tag not in places:
            places[tag] = first + len(body)
            body += tag
        table += struct.pack(">4sII", name, places[tag], len(tag))
    size = first + len(body)
    header = struct.pack(
        ">I4xI4s4s4s12x4s28xiii48x",
        *(size, 0x02100000, b"mntr", b"RGB ", b"XYZ ", b"acsp", 63190, 65536, 54061),
    )
    return header + struct.pack(">I", len(tags)) + table + body


def _xyz_tag(values: _Vector) -> bytes:
    return struct.pack(">4s4xiii", b"XYZ ", *(round(65536 * value) for value in values))
