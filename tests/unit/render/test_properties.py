"""Any size, any mode, any orientation: the right display size, inside the box, the same bytes twice."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.unit.render.pictures import LIMITS, encoded, opened, preset
from thumbline.adapters.pillow.framing import display_size, frame
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.presets import Fit, OutputFormat

_MODES = {
    "JPEG": ("L", "RGB", "CMYK"),
    "PNG": ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"),
    "WEBP": ("RGB", "RGBA"),
    "GIF": ("L", "P"),
    "TIFF": ("1", "L", "P", "RGB", "RGBA", "CMYK", "I;16"),
    "BMP": ("1", "L", "P", "RGB"),
}
_KINDS_AND_MODES = [(kind, mode) for kind, modes in _MODES.items() for mode in modes]
_ORIENTED = frozenset({"JPEG", "PNG", "WEBP", "TIFF"})
_SIDES = st.integers(1, 64) | st.integers(1, 700)


def _picture(size: tuple[int, int], kind: str, mode: str, orientation: int) -> bytes:
    gradient = Image.linear_gradient("L").resize(size)
    if mode == "I;16":
        image = Image.frombytes("I;16", size, bytes(2 * size[0] * size[1]))
    elif mode in ("LA", "RGBA"):
        image = gradient.convert(mode)
        image.putalpha(gradient)
    else:
        image = gradient.convert(mode)
    if kind not in _ORIENTED:
        return encoded(image, kind)
    if kind == "TIFF":
        return encoded(image, kind, tiffinfo={0x0112: orientation})
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(image, kind, exif=exif.tobytes())


@settings(max_examples=60)
@given(
    size=st.tuples(_SIDES, _SIDES),
    kind_and_mode=st.sampled_from(_KINDS_AND_MODES),
    orientation=st.integers(1, 8),
    box=st.tuples(st.integers(1, 400), st.integers(1, 400)),
    fit=st.sampled_from(("contain", "cover")),
    output=st.sampled_from(("auto", "jpeg", "webp", "png")),
)
def test_every_picture_gets_its_display_size_and_the_same_bytes_twice(
    *,
    size: tuple[int, int],
    kind_and_mode: tuple[str, str],
    orientation: int,
    box: tuple[int, int],
    fit: Fit,
    output: OutputFormat,
) -> None:
    kind, mode = kind_and_mode
    data = _picture(size, kind, mode, orientation)
    wanted = preset(*box, fit=fit, output=output)
    rendering = render(data, [wanted], LIMITS)
    turned = orientation if kind in _ORIENTED else 1
    assert (rendering.width, rendering.height) == display_size(size, turned)
    thumbnail = rendering.thumbnails[0]
    assert opened(thumbnail.data).size == (thumbnail.width, thumbnail.height)
    assert 1 <= thumbnail.width <= min(box[0], rendering.width)
    assert 1 <= thumbnail.height <= min(box[1], rendering.height)
    assert render(data, [wanted], LIMITS) == rendering


@given(
    size=st.tuples(st.integers(1, 120_000_000), st.integers(1, 120_000_000)),
    orientation=st.integers(1, 8),
    box=st.tuples(st.integers(1, 4096), st.integers(1, 4096)),
)
def test_up_to_the_limit_no_side_becomes_zero_none_grows_and_the_shape_is_kept(
    size: tuple[int, int], orientation: int, box: tuple[int, int]
) -> None:
    framing = frame(size, orientation, preset(*box))
    shown = display_size(framing.size, orientation)
    natural = display_size(size, orientation)
    assert 1 <= shown[0] <= min(box[0], natural[0])
    assert 1 <= shown[1] <= min(box[1], natural[1])
    scale = min(1.0, box[0] / natural[0], box[1] / natural[1])
    assert abs(shown[0] - max(1, natural[0] * scale)) <= 0.5 + 1e-6
    assert abs(shown[1] - max(1, natural[1] * scale)) <= 0.5 + 1e-6


def test_several_presets_come_from_one_decode_each_as_if_it_were_alone() -> None:
    data = _picture((1200, 800), "JPEG", "RGB", 6)
    presets = [
        preset(),
        preset(64, 64, fit="cover", output="webp", name="small"),
        preset(200, 100, output="avif", name="modern"),
    ]
    together = render(data, presets, LIMITS)
    assert [thumbnail.preset for thumbnail in together.thumbnails] == ["thumbnail", "small", "modern"]
    assert [(item.width, item.height) for item in together.thumbnails] == [(213, 320), (64, 64), (67, 100)]
    assert [item.content_type for item in together.thumbnails] == ["image/jpeg", "image/webp", "image/avif"]
    assert opened(together.thumbnails[2].data).format == "AVIF"
    # The largest of them decides what all are resampled from, so only it is the same to the byte.
    assert together.thumbnails[0] == render(data, presets[:1], LIMITS).thumbnails[0]
