"""Whatever arrives, the answer is well-formed and never a 500; what a client wrote stays out of the log."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.ingest_api.handler import lambda_handler, logger
from functions.ingest_api.problem_types import PROBLEM_TYPES
from tests.api import Api
from tests.events import LambdaContext, api_request

API = Api()
TEXT = st.text(max_size=60)
METHODS = st.sampled_from(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH", "TRACE", "get", ""])
SEGMENTS = st.one_of(
    st.sampled_from(
        [*("images", "jobs", "uploads", "problems", "openapi.json", "thumbnail", "v1", "", "..", "%2e%2e")]
    ),
    TEXT,
)
NAMES = st.one_of(
    st.sampled_from(["Idempotency-Key", "content-type", "If-None-Match", "Authorization", "Content-Length"]),
    TEXT,
)
VALUES = st.one_of(
    st.sampled_from(
        ["image/png", "application/json", "*", "W/", '"', "a" * 300, "\x00", "é", "application/"]
    ),
    TEXT,
)
QUERIES = st.dictionaries(
    st.one_of(st.sampled_from(["presets", "deadline_seconds", "status", "limit", "cursor"]), TEXT),
    st.lists(
        st.one_of(st.sampled_from(["1", "thumbnail", "QUEUED", "1e3", "\u0663"]), TEXT),
        min_size=1,
        max_size=2,
    ),
    max_size=3,
)
BODIES = st.one_of(
    st.none(), st.binary(max_size=50), st.sampled_from([b'{"upload_id": "upl_"}', b"{}", b"[" * 99])
)


@settings(max_examples=500)
@given(
    METHODS,
    st.lists(SEGMENTS, max_size=4),
    st.dictionaries(NAMES, st.lists(VALUES, min_size=1, max_size=2), max_size=3),
    QUERIES,
    BODIES,
)
def test_any_request_has_a_well_formed_answer(
    method: str, path: list[str], headers: dict[str, Any], query: dict[str, list[str]], body: bytes | None
) -> None:
    event = api_request(method, "/", body, headers)
    event["path"] = "/" + "/".join(path)
    event["multiValueQueryStringParameters"] = query
    answer = lambda_handler(event, LambdaContext(), API.ingest)

    assert answer["statusCode"] < 500, answer
    assert all(
        len(values) == 1 and isinstance(values[0], str) for values in answer["multiValueHeaders"].values()
    )
    if answer["statusCode"] >= 400:
        assert answer["multiValueHeaders"]["Content-Type"] == ["application/problem+json"]
        assert answer["multiValueHeaders"]["Cache-Control"] == ["no-store"]
        if method != "HEAD":
            assert json.loads(answer["body"])["code"] in PROBLEM_TYPES


def test_nothing_that_a_client_wrote_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, tokens, bodies, file names, and paths that hold one of them by mistake."""
    log = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", log)
    api, word = Api(), "confidential"
    headers = {
        "Idempotency-Key": word,
        "Authorization": f"Bearer {word}",
        "Content-Disposition": f'attachment; filename="{word}.jpg"',
        "Content-Type": "image/jpeg",
    }
    api.call("POST", "/images", word.encode(), headers)
    api.call("POST", "/images", b"other", headers)
    api.call("GET", f"/{word}", headers=headers)
    api.call("GET", f"/jobs?cursor={word}&status={word}")
    api.post_json("/images", {"upload_id": word}, Idempotency_Key=word)
    api.post_json("/uploads", {word: word})

    assert len(log.getvalue().splitlines()) == 6
    assert word not in log.getvalue()
