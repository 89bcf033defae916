"""Smoke requests say who calls, to the API and to nobody else."""

from __future__ import annotations

from typing import Any

import boto3
import pytest

from tools.client import Answer, ImageApi
from tools.smoke import __main__ as program
from tools.smoke.callers import SignedImageApi, SmokeError, api_at

URL = "https://abc123.execute-api.eu-central-1.amazonaws.com/v1"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, str]]]:
    """(URL, headers) of what would have gone out; POST is answered with a redirect to S3."""
    seen: list[tuple[str, dict[str, str]]] = []

    def request(
        _self: Any, _method: str, url: str, *, headers: Any, body: bytes | None, redirects: int
    ) -> Answer:
        assert isinstance(redirects, int)
        seen.append((url, dict(headers or {})))
        return Answer(url, 200, {}, body or b"")

    monkeypatch.setattr(ImageApi, "request", request)
    return seen


def _session(**values: Any) -> boto3.Session:
    return boto3.Session("AKIAEXAMPLE", "secret", **values)


def test_a_request_to_the_api_is_signed_for_its_region(sent: list[tuple[str, dict[str, str]]]) -> None:
    api = api_at(URL, _session(region_name="us-east-1"))

    api.post_image(b"picture", key="k", content_type="image/jpeg")

    ((url, headers),) = sent
    assert url == f"{URL}/images"
    assert headers["Idempotency-Key"] == "k"
    assert "/eu-central-1/execute-api/aws4_request" in headers["Authorization"]
    assert "idempotency-key" in headers["Authorization"]


def test_temporary_credentials_send_their_token(sent: list[tuple[str, dict[str, str]]]) -> None:
    api_at(URL, _session(aws_session_token="token")).get(f"{URL}/jobs/x")

    assert sent[0][1]["X-Amz-Security-Token"] == "token"


def test_a_presigned_link_is_left_alone(sent: list[tuple[str, dict[str, str]]]) -> None:
    api_at(URL, _session()).get("https://bucket.s3.amazonaws.com/thumbnails/x?X-Amz-Signature=y")

    assert sent[0][1] == {}


TOKEN = f"thumb_{'0' * 16}_{'1' * 64}"


@pytest.mark.parametrize("url", [URL, "http://127.0.0.1:8080/v1"])
def test_a_token_is_borne_instead_of_a_signature(sent: list[tuple[str, dict[str, str]]], url: str) -> None:
    api_at(url, _session(), TOKEN).post_image(b"picture", key="k", content_type="image/jpeg")

    assert sent == [
        (
            f"{url}/images",
            {"Content-Type": "image/jpeg", "Idempotency-Key": "k", "Authorization": f"Bearer {TOKEN}"},
        )
    ]


def test_a_presigned_link_never_gets_the_token(sent: list[tuple[str, dict[str, str]]]) -> None:
    api_at(URL, _session(), TOKEN).get("https://bucket.s3.amazonaws.com/thumbnails/x?X-Amz-Signature=y")

    assert sent[0][1] == {}


def test_a_token_never_travels_in_the_clear() -> None:
    with pytest.raises(SmokeError, match="A token is sent by HTTPS alone"):
        api_at("http://thumbs.example/v1", _session(), TOKEN)


def test_what_is_no_token_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("THUMBLINE_TOKEN", "secret\nX-Header: y")

    assert program.main([URL]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("TOKEN holds no token")
    assert "secret" not in said.err + said.out


def test_a_stack_on_this_machine_is_called_without_a_signature() -> None:
    api = api_at("http://127.0.0.1:8080/v1", _session())

    assert type(api) is ImageApi


def test_a_domain_of_its_own_is_signed_for_the_sessions_region() -> None:
    assert type(api_at("https://thumbs.example/v1", _session(region_name="eu-west-1"))) is SignedImageApi


@pytest.mark.parametrize(
    ("url", "session", "sentence"),
    [
        ("abc/v1", _session(), "'abc/v1' is no base URL: give URL=https://"),
        ("https://thumbs.example/v1", None, "The region of thumbs.example is not known: set AWS_REGION."),
    ],
)
def test_what_cannot_be_called_is_named(
    url: str, session: boto3.Session | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)

    with pytest.raises(SmokeError, match=sentence):
        api_at(url, session or _session())


def test_missing_credentials_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    with pytest.raises(SmokeError, match="There are no AWS credentials to sign with"):
        api_at(URL, boto3.Session())


def test_a_url_must_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main([""]) == 2
    assert capsys.readouterr().err.startswith("Which stage? Give its base URL")


def test_a_wrong_url_ends_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["ftp://x"]) == 1
    assert "Traceback" not in capsys.readouterr().err
