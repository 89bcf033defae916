"""The committed description is the one that is served, covers every route, and matches what is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from functions.ingest_api.openapi.document import openapi_text
from functions.ingest_api.problem_types import PROBLEM_TYPES
from functions.ingest_api.routes import ROUTER
from tests.api import KEY, Answer, Api
from tests.described import DESCRIPTION, PROBLEMS, deployed_settings, problems_markdown

UNKNOWN_JOB = "img_00000000000000000000000000"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DESCRIPTION.read_text())
    return found


@pytest.mark.parametrize("stage", ["dev", "prod", "local"])
def test_the_committed_description_is_what_every_stage_serves(stage: str) -> None:
    served = openapi_text(deployed_settings(stage))
    assert DESCRIPTION.read_text() == served, "run `make openapi` and review the difference"


def test_the_committed_page_of_problems_is_the_table() -> None:
    assert PROBLEMS.read_text() == problems_markdown(), "run `make openapi`"


def test_every_route_is_described_and_nothing_else(document: dict[str, Any]) -> None:
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert described == {(route.method, route.path) for route in ROUTER.routes}


def test_every_problem_has_an_example_somewhere(document: dict[str, Any]) -> None:
    """Those of a job are embedded in its status; the local stack's own are not the API's."""
    shown = {code for answer in answers(document) for code in examples(answer)}
    embedded = {
        *("too_many_pixels", "too_many_frames", "too_complex", "truncated", "corrupt", "original_missing"),
        *("bad_message", "attempts_exhausted", "expired", "deleted"),
    }
    elsewhere = {"method_not_allowed", "starting", "not_found", "emulator_unavailable"}
    assert shown == set(PROBLEM_TYPES) - embedded - elsewhere


def test_every_reference_resolves(document: dict[str, Any]) -> None:
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', DESCRIPTION.read_text()):
        part: Any = document
        for step in reference.split("/"):
            part = part[step]
        assert part


def test_every_status_has_a_description_and_headers(document: dict[str, Any]) -> None:
    for answer in answers(document):
        assert answer["description"]
        assert "Cache-Control" in answer["headers"]


def test_the_keys_lifetime_is_published(document: dict[str, Any]) -> None:
    (key,) = (
        parameter
        for parameter in document["paths"]["/images"]["post"]["parameters"]
        if parameter["name"] == "Idempotency-Key"
    )
    assert "24 hours" in key["description"]


def answers(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        for operation in item.values():
            yield from operation["responses"].values()


def examples(answer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = answer.get("content", {}).get("application/problem+json", {}).get("examples", {})
    return found


def exchanges(api: Api) -> Iterator[tuple[str, str, Answer]]:
    """Every kind of answer that the twins can give, with the operation that gave it."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(100)
    yield "post", "/images", api.post()
    yield "post", "/images", api.post()
    yield "post", "/images", api.post(b"other")
    yield "post", "/images", api.post(Content_Type="text/plain")
    yield "post", "/images", api.post(b"x" * 4_500_001)
    yield "post", "/images", api.call("POST", "/images", b"x")
    yield "post", "/uploads", api.begin_upload(picture)
    yield "post", "/uploads", api.post_json("/uploads", {})
    yield "post", "/images", api.post_json("/images", {"upload_id": "upl_"}, Idempotency_Key="b")
    (job_id,) = api.world.tables.rows
    job, image = f"/jobs/{job_id}", f"/images/{job_id}/thumbnail"
    yield "get", "/jobs/{job_id}", api.call("GET", job)
    yield "get", "/images/{job_id}/{preset}", api.call("GET", image)
    api.finish()
    done = api.call("GET", job)
    yield "get", "/jobs/{job_id}", done
    etag = {"If-None-Match": done.headers["ETag"]}
    yield "get", "/jobs/{job_id}", api.call("GET", job, headers=etag)
    yield "get", "/images/{job_id}/{preset}", api.call("GET", image)
    yield "get", "/images/{job_id}/{preset}", api.call("GET", image, headers={"If-None-Match": "*"})
    yield "get", "/images/{job_id}/{preset}", api.call("GET", f"/images/{job_id}/other")
    yield "get", "/jobs", api.call("GET", "/jobs?limit=1")
    yield "get", "/jobs", api.call("GET", "/jobs?limit=x")
    yield "get", "/jobs", api.call("GET", "/jobs?cursor=x")
    yield "get", "/jobs/{job_id}", api.call("GET", f"/jobs/{UNKNOWN_JOB}")
    yield "get", "/openapi.json", api.call("GET", "/openapi.json")
    yield "get", "/problems/{code}", api.call("GET", "/problems/empty")
    yield "get", "/problems/{code}", api.call("GET", "/problems/none")
    yield "delete", "/images/{job_id}", api.call("DELETE", f"/images/{job_id}")
    yield "delete", "/images/{job_id}", api.call("DELETE", f"/images/{job_id}")
    yield "post", "/images", api.call("POST", "/images", b"pixels", KEY | {"Content-Type": "image/jpeg"})


def test_what_is_answered_is_what_is_described(document: dict[str, Any]) -> None:
    statuses = set()
    for method, path, answer in exchanges(Api()):
        statuses.add(answer.status)
        described = document["paths"][path][method]["responses"][str(answer.status)]
        everywhere = {"Content-Type", "Content-Security-Policy", "X-Content-Type-Options"}
        cors = {name for name in answer.headers if name.startswith("Access-Control-")}
        assert set(answer.headers) - everywhere - cors <= set(described["headers"]), (path, answer.status)
        media_type = answer.headers.get("Content-Type", "").partition(";")[0]
        assert media_type in described.get("content", {"": None}), (path, answer.status)
        if media_type == "application/problem+json":
            assert answer.document["code"] in examples(described), (path, answer.document)
        if media_type.endswith("json") and path != "/openapi.json":
            check(answer.document, described["content"][media_type]["schema"], document)
    assert statuses == {200, 201, 202, 204, 302, 304, 400, 404, 409, 410, 413, 415, 422}


def check(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> None:
    """Only what the schemas of this description use; and nothing may be answered that is not described."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    match value:
        case dict():
            assert set(schema.get("required", [])) <= set(value)
            for name, part in value.items():
                default = schema.get("additionalProperties")
                described = schema.get("properties", {}).get(name, default)
                assert described, f"{name} is not described"
                check(part, described, document)
        case list():
            assert schema["type"] == "array"
            for part in value:
                check(part, schema["items"], document)
        case _:
            kinds = {"string": str, "integer": int, "boolean": bool, "null": type(None)}
            named = schema.get("type", [])
            wanted = [kinds[kind] for kind in ([named] if isinstance(named, str) else named)]
            assert not wanted or type(value) in wanted, (value, schema)
            assert "pattern" not in schema or re.search(schema["pattern"], value)
            assert "enum" not in schema or value in schema["enum"]
            assert "const" not in schema or value == schema["const"]
