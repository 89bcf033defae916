"""Colour by code points: the made profiles against the standards' own numbers, and what comes out of them."""

from __future__ import annotations

import struct
from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageCms

from tests.unit.render.pictures import LIMITS, encoded, image_file, opened, png, png_chunk, preset, quadrants
from thumbline.adapters.pillow import cicp
from thumbline.adapters.pillow.cicp import TONE_MAPPED, described_colour
from thumbline.adapters.pillow.recipe import render

_SRGB, _P3, _HDR_PQ, _HDR_HLG = (1, 13), (12, 13), (9, 16), (9, 18)
_CHROMATICITIES = {
    1: ((0.640, 0.330), (0.300, 0.600), (0.150, 0.060)),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)),
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
}
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])


def _xyz(x: float, y: float) -> NDArray[np.float64]:
    return np.array([x / y, 1, (1 - x - y) / y])


@pytest.mark.parametrize("primaries", _CHROMATICITIES)
def test_the_primaries_are_those_of_the_standard_under_d50(primaries: int) -> None:
    white, d50 = _xyz(0.3127, 0.3290), np.array([0.9642, 1.0, 0.8249])
    raw = np.stack([_xyz(*point) for point in _CHROMATICITIES[primaries]], axis=1)
    scaled = raw @ np.diag(np.linalg.inv(raw) @ white)
    adapt = np.linalg.inv(_BRADFORD) @ np.diag((_BRADFORD @ d50) / (_BRADFORD @ white)) @ _BRADFORD
    assert np.abs((adapt @ scaled).T - np.array(cicp._PRIMARIES[primaries])).max() < 2e-4


def test_reference_white_lies_where_the_standards_put_it() -> None:
    # ITU-R BT.2408: 203 cd/m2 is 58 % of PQ and 75 % of HLG.
    assert cicp._pq(0.5807) == pytest.approx(203, rel=0.005)
    assert cicp._hlg(0.75) == pytest.approx(203, rel=0.005)
    assert cicp._pq(1.0) == pytest.approx(10_000)
    assert cicp._hlg(1.0) == pytest.approx(1_000, rel=0.001)


def test_light_below_the_knee_is_kept_and_nothing_exceeds_white() -> None:
    assert cicp._rolled_off(100) == pytest.approx(100 / 203)
    steps = [cicp._rolled_off(light) for light in range(0, 10_000, 10)]
    assert steps == sorted(steps)
    assert 0.99 < steps[-1] <= 1


def _converted(code_points: tuple[int, int], colour: tuple[int, int, int]) -> tuple[int, ...]:
    profile = described_colour(None, code_points).profile
    assert profile is not None
    transform = ImageCms.buildTransform(
        ImageCms.ImageCmsProfile(BytesIO(profile)), ImageCms.createProfile("sRGB"), "RGB", "RGB"
    )
    converted = ImageCms.applyTransform(Image.new("RGB", (1, 1), colour), transform)
    assert converted is not None
    pixel = converted.getpixel((0, 0))
    assert isinstance(pixel, tuple)
    return pixel


def test_srgb_and_video_need_no_profile() -> None:
    for code_points in (_SRGB, (1, 1), (2, 2), (6, 6), (5, 14)):
        assert described_colour(None, code_points).profile is None


def test_a_profile_goes_before_code_points() -> None:
    assert described_colour(b"profile", _HDR_PQ) == cicp.Colour(b"profile")


def test_display_p3_becomes_more_vivid_and_grey_stays_grey() -> None:
    assert _converted(_P3, (120, 120, 120)) == pytest.approx((120, 120, 120), abs=1)
    red, green, _ = _converted(_P3, (200, 60, 60))
    assert red > 205
    assert green < 60
    assert described_colour(None, _P3).notes == ()


@pytest.mark.parametrize("code_points", [_HDR_PQ, _HDR_HLG])
def test_high_range_uses_the_whole_scale_and_is_told(code_points: tuple[int, int]) -> None:
    assert described_colour(None, code_points).notes == (TONE_MAPPED,)
    white = 148 if code_points == _HDR_PQ else 191
    # Reference white becomes nearly white, not the grey that its code would be.
    assert min(_converted(code_points, (white, white, white))) > 235
    assert _converted(code_points, (0, 0, 0)) == (0, 0, 0)


def test_an_hdr_heic_is_tone_mapped_with_a_note() -> None:
    rendering = render(image_file("heic-pq-ramp.heic"), [preset(output="png")], LIMITS)
    assert rendering.notes == (TONE_MAPPED,)
    grey = np.asarray(opened(rendering.thumbnails[0].data).convert("L"))[32]
    # The ramp runs over PQ's code values; 37 of 64 is reference white.
    assert grey[0] == 0
    assert grey[37] > 235
    assert grey[20] < 90


def test_an_hdr_avif_is_tone_mapped_with_a_note() -> None:
    plain = encoded(Image.new("RGB", (16, 16), (148, 148, 148)), "AVIF", quality=100)
    coded = struct.pack(">4sHH", b"nclx", 1, 13)
    assert coded in plain
    data = plain.replace(coded, struct.pack(">4sHH", b"nclx", 9, 16))
    rendering = render(data, [preset(output="png")], LIMITS)
    assert rendering.notes == (TONE_MAPPED,)
    assert int(rendering.dominant_colour[1:3], 16) > 235
    assert render(plain, [preset(output="png")], LIMITS).dominant_colour == "#949494"


def test_a_png_s_code_points_count_in_high_range_only() -> None:
    rows = (b"\0" + b"\x94\x94\x94" * 8) * 8
    high = png(8, 8, rows, before=[png_chunk(b"cICP", bytes((9, 16, 0, 1)))])
    assert render(high, [preset()], LIMITS).notes == (TONE_MAPPED,)
    vivid = (b"\0" + b"\x33\x66\x99" * 8) * 8
    standard = png(8, 8, vivid, before=[png_chunk(b"cICP", bytes((12, 13, 0, 1)))])
    assert render(standard, [preset()], LIMITS).dominant_colour == "#336699"
    assert render(encoded(quadrants(8, 8), "PNG"), [preset()], LIMITS).notes == ()
