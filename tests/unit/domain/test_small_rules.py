"""Keys, retries, idempotency keys, rows and settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thumbline
from tests.world import SMALL, World, new_job
from thumbline.domain import keys
from thumbline.domain.dead_letters import owes_copy
from thumbline.domain.errors import FailureCode, SettingsError
from thumbline.domain.idempotency import IdempotencyKeyError, fingerprint, parse_key, record_id
from thumbline.domain.job import Failure, Job, Result, Status
from thumbline.domain.presets import DEFAULT_PRESET, Preset
from thumbline.domain.retry import backoff_seconds, bounce_seconds, delay_seconds, unreadable_row_seconds
from thumbline.domain.row import Add, Append, Compare, Differs, SetIfAbsent, changed, holds
from thumbline.settings import (
    AuthorizerSettings,
    IngestSettings,
    ReconcilerSettings,
    RelaySettings,
    WorkerSettings,
)
from tools.chaos.universe import LIMITS, TIMINGS

times = st.integers(0, 2**48 - 1)
bits = st.integers(0, 2**80 - 1)


@given(times, bits, times, bits)
def test_job_ids_sort_by_time_and_tell_it(now: int, low: int, later: int, high: int) -> None:
    first, second = keys.job_id(now, low), keys.job_id(later, high)
    assert keys.is_job_id(first)
    assert len(first) == 30
    assert keys.created_at_of(first) == now
    if now != later:
        assert (first < second) == (now < later)


@pytest.mark.parametrize("text", ["", "img_", "img_" + "0" * 25, "img_" + "0" * 27, "img_" + "o" * 26])
def test_other_texts_are_no_job_ids(text: str) -> None:
    assert not keys.is_job_id(text)


@given(times, bits)
def test_object_keys_derive_from_the_job(now: int, randomness: int) -> None:
    """S15."""
    job_id = keys.job_id(now, randomness)
    assert keys.original_key(job_id) == f"originals/{job_id}"
    assert (
        keys.thumbnail_key(job_id, "thumbnail", "ab" * 32, "jpg")
        == f"thumbnails/{job_id}/thumbnail-abababababababab.jpg"
    )


@pytest.mark.parametrize("phase", keys.Phase)
def test_every_shard_of_a_phase_is_used(phase: keys.Phase) -> None:
    used = {keys.shard_of(keys.job_id(1, n), phase) for n in range(500)}
    assert used == set(keys.shards_of(phase))
    assert len(used) == 8


def test_no_two_phases_share_a_shard() -> None:
    assert len({shard for phase in keys.Phase for shard in keys.shards_of(phase)}) == 24


def test_backoff_doubles_up_to_its_ceiling_with_full_jitter() -> None:
    """S113."""
    waits = [backoff_seconds(n, base_seconds=2, ceiling_seconds=900, jitter=1.0) for n in range(1, 12)]
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    assert backoff_seconds(9, base_seconds=2, ceiling_seconds=900, jitter=0.0) == 0


def test_an_unreadable_row_waits_longer_each_time() -> None:
    assert [unreadable_row_seconds(n, 1.0) for n in range(1, 8)] == [30, 60, 120, 240, 480, 900, 900]
    assert unreadable_row_seconds(1, 0.0) == 15


@given(st.integers(-(10**9), 10**9), st.floats(0, 0.999))
def test_a_bounce_ends_after_its_reason_and_within_what_sqs_allows(offset: int, jitter: float) -> None:
    seconds = bounce_seconds(offset, 0, jitter)
    assert 1 <= seconds <= 43_200
    assert seconds * 1000 >= min(offset, 43_200_000)


@pytest.mark.parametrize(
    ("offset", "seconds"), [(-5, 0), (0, 0), (1, 1), (1_000, 1), (90_500, 91), (10**9, 900)]
)
def test_a_message_sleeps_until_its_job_may_be_claimed(offset: int, seconds: int) -> None:
    assert delay_seconds(offset, 0) == seconds


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("7c1f6e0a-3b52", "7c1f6e0a-3b52"),
        ('"7c1f6e0a-3b52"', "7c1f6e0a-3b52"),
        ("  spaced-around  ", "spaced-around"),
        (r'"a \"quoted\" \\ key"', r'a "quoted" \ key'),
        ("k" * 255, "k" * 255),
    ],
)
def test_bare_and_quoted_are_one_key(header: str, key: str) -> None:
    assert parse_key(header) == key


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "   ",
        '""',
        '"open',
        'a"b',
        "two words",
        "a, b",
        "k" * 256,
        "schlüssel",
        "tab\there",
        '"a"b"',
    ],
)
def test_a_missing_or_malformed_key_is_named(header: str | None) -> None:
    with pytest.raises(IdempotencyKeyError, match="Idempotency-Key"):
        parse_key(header)


def test_the_clients_key_is_kept_as_a_hash_and_scoped_to_its_owner() -> None:
    assert "secret" not in record_id("alice", "secret")
    assert record_id("alice", "secret") != record_id("bob", "secret")


def test_a_fingerprint_covers_method_route_body_type_and_presets() -> None:
    base = {
        "method": "POST",
        "route": "/images",
        "body_sha256": "aa",
        "content_type": "image/png",
        "presets": ["thumbnail"],
    }
    other = {
        "method": "PUT",
        "route": "/uploads",
        "body_sha256": "bb",
        "content_type": "",
        "presets": ["thumbnail", "small"],
    }
    prints = {fingerprint(**base)}  # type: ignore[arg-type]
    prints |= {fingerprint(**{**base, name: value}) for name, value in other.items()}  # type: ignore[arg-type]
    assert len(prints) == 6
    both = {**base, "presets": ["small", "thumbnail"]}
    assert fingerprint(**both) == fingerprint(**{**base, "presets": ["thumbnail", "small"]})  # type: ignore[arg-type]


def test_a_job_survives_its_row() -> None:
    job = replace(
        new_job(World(), presets=(DEFAULT_PRESET, SMALL)),
        status=Status.FAILED,
        failure=Failure(FailureCode.ATTEMPTS_EXHAUSTED, "x", retryable=True, cause=FailureCode.INTERNAL),
        results={"thumbnail": Result("k", "ab", 1, 2, 3, "image/jpeg")},
        trace=({"event": "redrive"},),
        deleted_at=5,
    )
    assert Job.from_row(job.to_row()) == job
    assert Job.from_row(new_job(World()).to_row()).failure is None


@pytest.mark.parametrize("code", FailureCode)
def test_exhausted_is_the_one_failure_that_owes_a_copy(code: FailureCode) -> None:
    job = replace(new_job(World()), status=Status.FAILED, failure=Failure(code, "x", retryable=True))
    assert owes_copy(job) is (code is FailureCode.ATTEMPTS_EXHAUSTED)
    assert not owes_copy(new_job(World()))


LATER = "a_code_of_a_later_version"


@pytest.mark.parametrize(
    ("codes", "code", "cause", "note"),
    [
        ({"code": LATER}, FailureCode.INTERNAL, None, f"'{LATER}'"),
        (
            {"code": "attempts_exhausted", "cause": LATER},
            FailureCode.ATTEMPTS_EXHAUSTED,
            FailureCode.INTERNAL,
            f"'{LATER}'",
        ),
        ({"code": LATER, "cause": "x"}, FailureCode.INTERNAL, FailureCode.INTERNAL, f"'{LATER}' and 'x'"),
    ],
)
def test_a_code_of_a_later_version_is_read_and_told(
    codes: dict[str, str], code: FailureCode, cause: FailureCode | None, note: str
) -> None:
    row = new_job(World()).to_row() | {"failure": {"detail": "It failed", "retryable": False} | codes}

    assert Job.from_row(row).failure == Failure(
        code, f"It failed (recorded by a later version as {note})", retryable=False, cause=cause
    )


def test_nobody_records_the_code_that_stands_for_unknown_ones() -> None:
    """Else `redrive --code internal` would not find exactly the failures of another version."""
    sources = [file.read_text() for file in Path(thumbline.__file__).parent.rglob("*.py")]

    assert sum("FailureCode.INTERNAL" in source for source in sources) == 1


def test_absent_attributes_compare_false_as_in_dynamodb() -> None:
    assert not holds(Compare("a", "<", 5), {})
    assert not holds(Differs("a", 5), {})
    assert not holds(Compare("a", "=", "5"), {"a": 5})
    assert changed({}, (Add("n", 2), SetIfAbsent("s", 1), Append("l", 3))) == {"n": 2, "s": 1, "l": [3]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "../x"}, "name"),
        ({"width": 0}, "width"),
        ({"fit": "stretch"}, "fit"),
        ({"format": "bmp"}, "format"),
        ({"quality": 0}, "quality"),
    ],
)
def test_a_wrong_preset_names_its_field(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Preset.from_record({**DEFAULT_PRESET.to_record(), **changes})


INGEST = IngestSettings(
    jobs_table="j",
    idempotency_table="i",
    access_table="a",
    bucket="b",
    owner_source="iam",
    presets=(DEFAULT_PRESET, SMALL),
    inline_limit_bytes=4_500_000,
    upload_limit_bytes=100_000_000,
    requests_per_second=1,
    max_open_jobs=2,
    timings=TIMINGS,
    idempotency_seconds=3,
    retry_after_seconds=4,
    signed_url_seconds=5,
    stage="dev",
)
ALL_SETTINGS = [
    INGEST,
    AuthorizerSettings("a"),
    RelaySettings("w", "d", "dev"),
    WorkerSettings("j", "b", "w", "d", TIMINGS, 4, LIMITS, "dev"),
    ReconcilerSettings("j", "b", "w", "u", "r", TIMINGS, 400, "dev"),
]


@pytest.mark.parametrize("settings", ALL_SETTINGS, ids=lambda settings: type(settings).__name__)
def test_settings_survive_the_environment(settings: IngestSettings) -> None:
    env = settings.to_env()
    assert type(settings).from_env(env) == settings
    assert set(env) == type(settings).variable_names()
    for name in env:
        with pytest.raises(SettingsError, match=f"{name} is not set"):
            type(settings).from_env({**env, name: ""})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("THUMBLINE_INLINE_LIMIT_BYTES", "-1", "whole number"),
        ("THUMBLINE_INLINE_LIMIT_BYTES", "²", "whole number"),
        ("THUMBLINE_OWNER_SOURCE", "anyone", "one of iam, token, local"),
        ("THUMBLINE_PRESETS", "{", "THUMBLINE_PRESETS"),
        ("THUMBLINE_PRESETS", "{}", "JSON list"),
        ("THUMBLINE_PRESETS", "[]", "'thumbnail' must be defined"),
        ("THUMBLINE_PRESETS", '[{"name":"thumbnail"}]', "THUMBLINE_PRESETS"),
    ],
)
def test_a_wrong_setting_fails_the_cold_start_with_its_name(name: str, value: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        IngestSettings.from_env({**INGEST.to_env(), name: value})
