"""What strangers put into our queues: whatever it is, it is read as malformed and never raises."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.json_text import parse_json
from thumbline.domain.messages import BadMessageError, parse_request
from thumbline.domain.relay_failures import parse_lost_batch
from tools.operator.console import moment

TOO_DEEP = "[" * 200_000
STRETCH = {"streamArn": "a", "shardId": "s", "startSequenceNumber": "1", "endSequenceNumber": "3"}


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("text", [TOO_DEEP, TOO_DEEP.encode(), '{"a":' * 200_000, "1" * 5_000, "", b"\xff"])
def test_whatever_cannot_be_read_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_json(text)
    assert not isinstance(caught.value, RecursionError)


@pytest.mark.parametrize("name", ["schema_version", "job_id", "object_key"])
def test_a_value_as_deep_as_the_parser_goes_is_quoted_in_a_few_words(name: str) -> None:
    """A value that can just be parsed can be written out as well."""
    read = 0
    for levels in range(sys.getrecursionlimit()):
        version = 0 if name == "schema_version" else 1
        body = json.dumps({"schema_version": version}).replace("}", f', "{name}": {nested(levels)}}}')
        with pytest.raises(BadMessageError) as caught:
            parse_request(body)
        read += caught.value.reason != "The message body is not JSON"
        assert len(caught.value.reason) < 120
    assert 100 < read < sys.getrecursionlimit()


@pytest.mark.parametrize("body", ["", TOO_DEEP, nested(900), '{"job_id": ' + nested(900) + "}"])
def test_a_foreign_message_is_shown_under_an_empty_code(body: str) -> None:
    letter = DeadLetter.read(body, {"job_id": "../../etc"})

    assert (letter.job_id, letter.generation, letter.code) == (None, None, "")


@pytest.mark.parametrize("text", ["9" * 5_000, "9" * 15, "-1", "1.5", "٣", "", "1\n"])
def test_a_foreign_number_is_none(text: str) -> None:
    letter = DeadLetter.read("{}", {"generation": text, "attempts": text, "first_seen": text})

    assert (letter.generation, letter.attempts, letter.first_seen) == (None, None, None)


def test_the_largest_time_that_is_read_can_be_shown() -> None:
    letter = DeadLetter.read("{}", {"first_seen": "9" * 14})

    assert str(moment(letter.first_seen)).startswith("5138-11-16T09:46:39")


def test_a_stretch_of_the_stream_is_read() -> None:
    lost = parse_lost_batch(json.dumps({"DDBStreamBatchInfo": STRETCH}))

    assert lost is not None
    assert (lost.first_sequence_number, lost.last_sequence_number) == ("1", "3")


@pytest.mark.parametrize("name", sorted(STRETCH))
@pytest.mark.parametrize("value", ["null", "7", '"9"' + " " * 9, nested(900)])
def test_a_stretch_with_a_part_that_is_no_text_is_none(name: str, value: str) -> None:
    body = json.dumps({"DDBStreamBatchInfo": STRETCH | {name: "HERE"}}).replace('"HERE"', value)

    assert (parse_lost_batch(body) is None) == (value.strip() != '"9"')


@pytest.mark.parametrize("number", ["", "-1", "x", "9" * 41, "9" * 5_000, "1.0"])
@pytest.mark.parametrize("name", ["startSequenceNumber", "endSequenceNumber"])
def test_a_stretch_between_what_are_no_numbers_is_none(name: str, number: str) -> None:
    assert parse_lost_batch(json.dumps({"DDBStreamBatchInfo": STRETCH | {name: number}})) is None


@pytest.mark.parametrize("body", [TOO_DEEP, nested(900), "", "{}", '{"DDBStreamBatchInfo": []}'])
def test_what_is_no_stretch_is_none(body: str) -> None:
    assert parse_lost_batch(body) is None


ANY_TEXT = st.text() | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["job_id", "DDBStreamBatchInfo"]), inner),
).map(json.dumps)


def _as_request(body: str) -> object:
    try:
        return parse_request(body)
    except BadMessageError as error:
        return error


@pytest.mark.parametrize(
    "read", [_as_request, parse_lost_batch, lambda body: DeadLetter.read(body, {"first_seen": body})]
)
@settings(max_examples=60)
@given(body=ANY_TEXT)
def test_no_text_raises_anything_else(read: Callable[[str], object], body: str) -> None:
    read(body)
