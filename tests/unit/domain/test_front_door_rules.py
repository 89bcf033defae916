"""Cursors, tokens and quotas: small rules that keep strangers apart."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbline.domain.cursors import CursorError, seal, unseal
from thumbline.domain.job import Status
from thumbline.domain.keys import job_id
from thumbline.domain.quotas import Allowance, Quota, reset_seconds, window_end_seconds, window_of
from thumbline.domain.tokens import OwnerNameError, UnauthenticatedError, new_token, parse_bearer
from thumbline.domain.uploads import is_upload_id, upload_id, upload_key

SECRET = b"s" * 32
STATUSES = st.sampled_from([None, *Status])
JOB_IDS = st.builds(job_id, st.integers(0, 2**48 - 1), st.integers(0, 2**80 - 1))


@given(JOB_IDS, st.text(), STATUSES)
def test_a_cursor_leads_back_to_its_place(job: str, owner: str, status: Status | None) -> None:
    cursor = seal(job, owner=owner, status=status, secret=SECRET)
    assert unseal(cursor, owner=owner, status=status, secret=SECRET) == job
    assert "=" not in cursor


@given(JOB_IDS, st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_cursor_is_refused(job: str, position: int, change: int) -> None:
    cursor = seal(job, owner="alice", status=None, secret=SECRET)
    at = position % len(cursor)
    changed = cursor[:at] + chr(ord(cursor[at]) ^ change) + cursor[at + 1 :]
    with pytest.raises(CursorError):
        unseal(changed, owner="alice", status=None, secret=SECRET)


def test_only_one_spelling_of_a_cursor_counts() -> None:
    cursor = seal(job_id(1, 1), owner="alice", status=None, secret=SECRET)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twin = cursor[:-1] + alphabet[alphabet.index(cursor[-1]) ^ 1]
    for wrong in (twin, f"{cursor}=="):
        with pytest.raises(CursorError):
            unseal(wrong, owner="alice", status=None, secret=SECRET)


@given(st.text(max_size=300))
def test_no_text_is_a_cursor_by_chance(text: str) -> None:
    with pytest.raises(CursorError):
        unseal(text, owner="alice", status=None, secret=SECRET)


def test_a_cursor_is_its_owners_and_its_filters_and_its_deployments() -> None:
    job = job_id(1, 1)
    cursor = seal(job, owner="alice", status=Status.FAILED, secret=SECRET)
    for owner, status, secret in (
        ("bob", Status.FAILED, SECRET),
        ("alice", None, SECRET),
        ("alice", Status.FAILED, b"t" * 32),
    ):
        with pytest.raises(CursorError):
            unseal(cursor, owner=owner, status=status, secret=secret)


def test_a_token_is_kept_as_a_salted_hash_only() -> None:
    token, record = new_token("acme", 5, token_id=b"i" * 8, secret=b"s" * 32, salt=b"x" * 16)
    token_id, secret = parse_bearer(f"Bearer {token}")

    assert (record.token_id, record.owner, record.created_at) == (token_id, "acme", 5)
    assert record.matches(secret)
    assert not record.matches(b"t" * 32)
    assert record.secret_sha256 == hashlib.sha256(b"x" * 16 + b"s" * 32).hexdigest()
    assert secret.hex() not in repr(record)


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer two words", "bearer thumb_"),
        *("thumb_" + "0" * 16 + "_" + "0" * 64, "Bearer thumb_" + "0" * 16 + "_" + "0" * 63),
        "Bearer thumb_" + "0" * 16 + "_" + "0" * 64 + "0",
        "Bearer thumb_" + "0" * 16 + "_" + "\u0660" * 64,
    ],
)
def test_what_is_no_token_is_refused(header: str | None) -> None:
    with pytest.raises(UnauthenticatedError):
        parse_bearer(header)


def test_the_schemes_name_may_be_written_in_any_case() -> None:
    token, _ = new_token("acme", 0, token_id=b"i" * 8, secret=b"s" * 32, salt=b"x" * 16)
    assert parse_bearer(f"  bEARER   {token} ") == parse_bearer(f"Bearer {token}")


@pytest.mark.parametrize("owner", ["", "Acme", "a#b", "-a", "a" * 64, "a b", "ä"])
def test_an_owner_has_a_plain_name(owner: str) -> None:
    with pytest.raises(OwnerNameError, match="cannot name an owner"):
        new_token(owner, 0, token_id=b"i" * 8, secret=b"s" * 32, salt=b"x" * 16)


@pytest.mark.parametrize(("token_id", "secret", "salt"), [(7, 32, 16), (8, 31, 16), (8, 32, 15)])
def test_a_token_of_fewer_bits_cannot_be_made(token_id: int, secret: int, salt: int) -> None:
    with pytest.raises(ValueError, match="fixed lengths"):
        new_token("acme", 0, token_id=bytes(token_id), secret=bytes(secret), salt=bytes(salt))


@given(st.integers(0, 2**45))
def test_a_window_ends_when_it_says(now: int) -> None:
    window = window_of(now)
    assert 1 <= reset_seconds(now) <= 10
    assert now < window_end_seconds(window) * 1000
    assert window_of(window_end_seconds(window) * 1000) == window + 1
    assert window_of(window_end_seconds(window) * 1000 - 1) == window


def test_the_last_request_of_a_quota_is_served_and_the_next_refused() -> None:
    quota = Quota(2)
    assert quota.policy_field() == '"requests";q=20;w=10'
    assert not Allowance(quota, 20, 3).refused
    assert Allowance(quota, 21, 3).refused
    assert Allowance(quota, 20, 3).field() == '"requests";r=0;t=3'
    assert not Allowance(quota, None, 3).refused


def test_an_uploads_key_is_its_owners() -> None:
    upload = upload_id("0" * 32)
    assert is_upload_id(upload)
    assert not is_upload_id(f"{upload}\n")
    assert upload_key("alice", upload) != upload_key("bob", upload)
    assert "alice" not in upload_key("alice", upload)
