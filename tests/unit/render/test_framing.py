"""Sizes and regions: aspect kept, nothing enlarged, no side ever zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.render.pictures import preset
from thumbline.adapters.pillow.framing import display_size, frame, smallest_useful_size

_SIDES = st.integers(1, 65_535)
_BOXES = st.integers(1, 4_096)


@given(_SIDES, _SIDES, _BOXES, _BOXES, st.integers(1, 8))
def test_contain_fits_the_box_and_keeps_the_aspect(
    width: int, height: int, box_width: int, box_height: int, orientation: int
) -> None:
    framing = frame((width, height), orientation, preset(box_width, box_height))
    shown_width, shown_height = display_size((width, height), orientation)
    out_width, out_height = display_size(framing.size, orientation)
    assert 1 <= out_width <= min(box_width, shown_width)
    assert 1 <= out_height <= min(box_height, shown_height)
    scale = min(1, box_width / shown_width, box_height / shown_height)
    assert out_width == pytest.approx(max(1, shown_width * scale), abs=0.51)
    assert out_height == pytest.approx(max(1, shown_height * scale), abs=0.51)
    assert framing.region == (0, 0, width, height)


@given(_SIDES, _SIDES, _BOXES, _BOXES, st.integers(1, 8))
def test_cover_fills_what_it_can_from_the_centre(
    width: int, height: int, box_width: int, box_height: int, orientation: int
) -> None:
    framing = frame((width, height), orientation, preset(box_width, box_height, fit="cover"))
    shown = display_size((width, height), orientation)
    assert display_size(framing.size, orientation) == (min(box_width, shown[0]), min(box_height, shown[1]))
    left, top, right, bottom = framing.region
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    assert left + right == pytest.approx(width)
    assert top + bottom == pytest.approx(height)
    assert framing.size[0] / (right - left) == pytest.approx(framing.scale, rel=1e-6)
    assert framing.size[1] / (bottom - top) == pytest.approx(framing.scale, rel=1e-6)


def test_the_decoder_is_asked_for_the_fitted_size_not_the_box() -> None:
    framings = [frame((6000, 4000), 1, preset())]
    assert smallest_useful_size((6000, 4000), framings) == (320, 213)


def test_the_decoder_is_asked_for_what_the_largest_thumbnail_needs() -> None:
    framings = [frame((6000, 4000), 1, preset()), frame((6000, 4000), 1, preset(400, 400, fit="cover"))]
    assert smallest_useful_size((6000, 4000), framings) == (600, 400)


@pytest.mark.parametrize(
    ("stored", "size"), [((1, 3000), (1, 320)), ((10_000, 1), (320, 1)), ((1, 1), (1, 1))]
)
def test_no_side_is_rounded_to_nothing(stored: tuple[int, int], size: tuple[int, int]) -> None:
    assert frame(stored, 1, preset()).size == size
