"""The parent believes nothing that the child could not honestly have said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.render.pictures import LIMITS, encoded, preset, quadrants
from thumbline.adapters.pillow.protocol import (
    LENGTHS,
    MAX_BODY_BYTES,
    MAX_HEADER_BYTES,
    Answer,
    ProtocolError,
    answer_parts,
    lengths,
    read_answer,
    read_request,
    request_parts,
)
from thumbline.adapters.pillow.recipe import render
from thumbline.domain.errors import FailureCode, PermanentError


def _header(parts: tuple[bytes, bytes]) -> bytes:
    header_bytes, body_bytes = lengths(parts[0][: LENGTHS.size])
    assert body_bytes == len(parts[1])
    header = parts[0][LENGTHS.size :]
    assert header_bytes == len(header)
    return header


def test_a_request_arrives_as_it_was_sent() -> None:
    wanted = [preset(), preset(10, 20, fit="cover", output="png", name="other")]
    assert read_request(_header(request_parts(b"original", wanted))) == wanted


def test_a_rendering_arrives_as_it_was_sent() -> None:
    wanted = [preset(), preset(10, 20, name="other")]
    rendering = render(encoded(quadrants(60, 40), "JPEG"), wanted, LIMITS)
    parts = answer_parts(Answer(rendering=rendering, retiring=True))
    assert read_answer(_header(parts), parts[1]) == Answer(rendering=rendering, retiring=True)


def test_a_refusal_arrives_with_code_and_sentence() -> None:
    parts = answer_parts(Answer(refusal=PermanentError(FailureCode.CORRUPT, "It is broken.")))
    refusal = read_answer(_header(parts), parts[1]).refusal
    assert refusal is not None
    assert (refusal.code, refusal.detail) == (FailureCode.CORRUPT, "It is broken.")


NESTED = b"[" * 50_000 + b"]" * 50_000
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@settings(max_examples=40)
@given(_JSON)
def test_any_other_header_is_a_protocol_error(value: object) -> None:
    with pytest.raises(ProtocolError):
        read_answer(json.dumps(value).encode(), b"")


@pytest.mark.parametrize("header", [b"[" * 200_000, b'{"retiring": false, "defect": ' + NESTED + b"}"])
def test_a_header_nested_beyond_reason_is_a_protocol_error(header: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_answer(header, b"")


@pytest.mark.parametrize(
    "change",
    [{"bytes": 10**9}, {"bytes": -1}, {"bytes": 0}, {"width": "wide"}, {"width": float("inf")}],
)
def test_a_thumbnail_that_does_not_add_up_is_a_protocol_error(change: dict[str, object]) -> None:
    rendering = render(encoded(quadrants(60, 40), "JPEG"), [preset()], LIMITS)
    parts = answer_parts(Answer(rendering=rendering))
    record = json.loads(_header(parts))
    record["rendering"]["thumbnails"][0].update(change)
    with pytest.raises(ProtocolError):
        read_answer(json.dumps(record).encode(), parts[1])


def test_bytes_that_belong_to_no_thumbnail_are_a_protocol_error() -> None:
    rendering = render(encoded(quadrants(60, 40), "JPEG"), [preset()], LIMITS)
    parts = answer_parts(Answer(rendering=rendering))
    with pytest.raises(ProtocolError):
        read_answer(_header(parts), parts[1] + b"more")


@pytest.mark.parametrize("sizes", [(MAX_HEADER_BYTES + 1, 0), (0, MAX_BODY_BYTES + 1)])
def test_lengths_are_bounded(sizes: tuple[int, int]) -> None:
    with pytest.raises(ProtocolError):
        lengths(LENGTHS.pack(*sizes))
