"""AVIF and HEIC by their boxes: turned once, cropped, limited and refused before anything is decoded."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import product

import pytest
from PIL import Image

from tests.unit.render.pictures import LIMITS, encoded, image_file, opened, preset, quadrants
from thumbline.adapters.pillow.heif_structure import inspect_avif, inspect_heic
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.errors import FailureCode, PermanentError

_ROTATE = {
    0: None,
    1: Image.Transpose.ROTATE_90,
    2: Image.Transpose.ROTATE_180,
    3: Image.Transpose.ROTATE_270,
}
_MIRROR = {0: Image.Transpose.FLIP_TOP_BOTTOM, 1: Image.Transpose.FLIP_LEFT_RIGHT}


def _box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def _with_properties(avif: bytes, *properties: bytes) -> bytes:
    """The AVIF that Pillow wrote, its one picture with further properties in the order given."""
    meta = avif.index(b"meta") - 4
    iloc = avif.index(b"iloc") - 4
    grown = bytearray(avif)
    ipma = avif.index(b"ipma") - 4
    (ipma_size,) = struct.unpack_from(">I", avif, ipma)
    ipco = avif.index(b"ipco") - 4
    (ipco_size,) = struct.unpack_from(">I", avif, ipco)
    known, position = 0, ipco + 8
    while position < ipco + ipco_size:
        position += struct.unpack_from(">I", avif, position)[0]
        known += 1
    more = b"".join(properties)
    indices = bytes(0x80 | known + 1 + number for number in range(len(properties)))
    extra = len(more) + len(indices)
    grown[ipma + 18] += len(indices)
    grown[ipma + ipma_size : ipma + ipma_size] = indices
    grown[ipco + ipco_size : ipco + ipco_size] = more
    for place, growth in ((meta, extra), (avif.index(b"iprp") - 4, extra), (ipco, len(more))):
        struct.pack_into(">I", grown, place, struct.unpack_from(">I", avif, place)[0] + growth)
    struct.pack_into(">I", grown, ipma + len(more), ipma_size + len(indices))
    # iloc version 0, 4-byte offsets and lengths, one item with one extent: all data moves back.
    struct.pack_into(">I", grown, iloc + 22, struct.unpack_from(">I", avif, iloc + 22)[0] + extra)
    return bytes(grown)


def _avif(width: int = 96, height: int = 64) -> bytes:
    return encoded(quadrants(width, height), "AVIF", quality=95, speed=10)


@pytest.mark.parametrize(("turns", "mirror"), [*product(range(4), (None, 0, 1))])
def test_a_container_s_rotation_and_mirror_are_applied_once_and_in_order(
    turns: int, mirror: int | None
) -> None:
    properties = [_box(b"irot", bytes((turns,)))]
    expected = quadrants(96, 64)
    turn = _ROTATE[turns]
    if turn is not None:
        expected = expected.transpose(turn)
    if mirror is not None:
        properties.append(_box(b"imir", bytes((mirror,))))
        expected = expected.transpose(_MIRROR[mirror])
    rendering = render(_with_properties(_avif(), *properties), [preset(output="png")], LIMITS)
    assert (rendering.width, rendering.height) == expected.size
    image = opened(rendering.thumbnails[0].data).convert("RGB")
    for x, y in product((16, expected.width - 16), (16, expected.height - 16)):
        found, wanted = image.getpixel((x, y)), expected.getpixel((x, y))
        assert isinstance(found, tuple)
        assert isinstance(wanted, tuple)
        assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) < 30


@pytest.mark.parametrize("kind", ["AVIF"])
def test_an_exif_orientation_beside_the_container_is_not_applied(kind: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(quadrants(96, 64), kind, exif=exif.tobytes())
    # Pillow writes the container's rotation from the tag: one turn in all.
    assert inspect_avif(data).orientation == 6
    rendering = render(data, [preset()], LIMITS)
    assert (rendering.width, rendering.height) == (64, 96)


def test_a_heic_is_turned_by_its_decoder_alone() -> None:
    source = inspect_heic(image_file("heic-turned-6.heic"))
    assert (source.width, source.height, source.orientation) == (64, 96, 1)


def test_a_clean_aperture_crops_an_avif() -> None:
    # 48 x 32 pixels, their centre 24 pixels right of and 16 below the picture's: its white quarter.
    clap = struct.pack(">IIIIiIiI", 48, 1, 32, 1, 24, 1, 16, 1)
    rendering = render(_with_properties(_avif(), _box(b"clap", clap)), [preset(output="png")], LIMITS)
    assert (rendering.width, rendering.height) == (48, 32)
    assert min(low for low, _ in opened(rendering.thumbnails[0].data).convert("RGB").getextrema()) > 200  # type: ignore[misc]


@pytest.mark.parametrize(
    "clap",
    [
        struct.pack(">IIIIiIiI", 48, 0, 32, 1, 0, 1, 0, 1),
        struct.pack(">IIIIiIiI", 96, 1, 64, 1, 0, 1, 0, 1),
        struct.pack(">IIIIiIiI", 10, 1, 10, 1, 5000, 1, 0, 1),
        b"short",
    ],
)
def test_a_clean_aperture_without_sense_is_ignored(clap: bytes) -> None:
    source = inspect_avif(_with_properties(_avif(), _box(b"clap", clap)))
    assert (source.width, source.height, source.crop) == (96, 64, None)


def test_of_a_sequence_the_still_picture_is_shown_and_its_frames_are_counted() -> None:
    data = image_file("avif-anim.avif")
    assert inspect_avif(data).frames == 5
    # The decoder would play the tracks of a file whose major brand is that of sequences.
    assert data[8:12] == b"avis"
    assert inspect_avif(data).essence[8:12] == b"avif"
    assert render(data, [preset()], replace(LIMITS, max_frames=5)).width == 150
    with pytest.raises(PermanentError, match="5 frames") as refusal:
        render(data, [preset()], replace(LIMITS, max_frames=4))
    assert refusal.value.code == FailureCode.TOO_MANY_FRAMES


def test_a_huge_declared_size_is_refused_before_decoding() -> None:
    data = bytearray(_avif())
    place = data.index(b"ispe") + 8
    struct.pack_into(">II", data, place, 60_000, 60_000)
    with pytest.raises(PermanentError) as refusal:
        render(bytes(data), [preset()], LIMITS)
    assert refusal.value.code == FailureCode.TOO_MANY_PIXELS


def test_memory_is_budgeted_by_the_samples_depth() -> None:
    plain, deep = image_file("heic-thumbor.heic"), image_file("heic-pq-ramp.heic")
    per_pixel = [
        (source.fixed_bytes - len(data)) / (source.width * source.height)
        for data in (plain, deep)
        for source in (inspect_heic(data),)
    ]
    assert per_pixel == [12, 14]


def test_a_truncated_bomb_is_called_a_bomb() -> None:
    data = bytearray(_avif())
    struct.pack_into(">II", data, data.index(b"ispe") + 8, 60_000, 60_000)
    with pytest.raises(PermanentError) as refusal:
        render(bytes(data[:-40]), [preset()], LIMITS)
    assert refusal.value.code == FailureCode.TOO_MANY_PIXELS


def test_data_beyond_the_end_of_the_file_is_truncation() -> None:
    for data in (_avif(), image_file("heic-turned-5.heic")):
        with pytest.raises(PermanentError) as refusal:
            render(data[:-8] if data[4:12] == b"ftypavif" else data[:-60], [preset()], LIMITS)
        assert refusal.value.code == FailureCode.TRUNCATED


@pytest.mark.parametrize(("old", "new"), [(b"av01Color", b"jpegColor"), (b"av01Color", b"hvc1Color")])
def test_another_coding_inside_the_container_is_named(old: bytes, new: bytes) -> None:
    data = _avif()
    assert old in data
    with pytest.raises(PermanentError, match=new[:4].decode()) as refusal:
        render(data.replace(old, new, 1), [preset()], LIMITS)
    assert refusal.value.code == FailureCode.UNSUPPORTED_TYPE


def test_tracks_without_a_still_picture_are_not_supported() -> None:
    data = bytearray(image_file("avif-anim.avif"))
    place = data.index(b"pitm")
    data[place : place + 4] = b"free"
    with pytest.raises(PermanentError, match="no still picture") as refusal:
        render(bytes(data), [preset()], LIMITS)
    assert refusal.value.code == FailureCode.UNSUPPORTED_TYPE


def test_junk_after_the_boxes_does_no_harm() -> None:
    assert render(_avif() + b"\0\0\0\3trailing junk", [preset()], LIMITS).width == 96
