"""Requests that are no proper HTTP: a problem document each, and no traceback in the log."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.integration.local.front_rig import Rig


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "front.log"


HEAD = b"GET /v1/jobs HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /v1/images HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
MALFORMED = {
    "a long header": HEAD + b"X-Long: " + b"a" * 9_000 + b"\r\n\r\n",
    "a control character": HEAD + b"Idempotency-Key: a\x7fb\r\n\r\n",
    "a raw byte in the path": b"GET /v1/jobs/\xff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "a raw byte in the query": b"GET /v1/jobs?cursor=\xff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "two types": POST + b"Content-Type: image/jpeg\r\nContent-Type: image/png\r\n\r\n",
    "a negative length": POST + b"Content-Length: -5\r\n\r\n",
    "an unknown method": b"FOO /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n",
    "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    "a broken chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a late broken chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n",
    "a raw byte in a header": POST + b"Idempotency-Key: a\xffb\r\nContent-Length: 0\r\n\r\n",
    "a raw byte in a header's name": POST + b"X-\xff: b\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_request_is_a_400_problem(rig: Rig, log: Path, request_bytes: bytes) -> None:
    head, _, body = rig.raw(request_bytes).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ") or head.startswith(b"HTTP/1.0 400 "), head
    assert b"Content-Type: application/problem+json" in head
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (400, "bad_request")
    assert problem["type"] == "/v1/problems/bad_request"
    assert "\n" not in problem["detail"]
    assert rig.upstream.seen == []
    assert "Traceback" not in log.read_text()


REFUSED = {
    "an unknown expectation": (POST + b"Expect: odd\r\nContent-Length: 0\r\n\r\n", 417, "bad_request"),
    "a tunnel": (b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "not_found"),
    "options of no path": (b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "not_found"),
}


@pytest.mark.parametrize(("request_bytes", "status", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_route_is_a_problem(rig: Rig, request_bytes: bytes, status: int, code: str) -> None:
    head, _, body = rig.raw(request_bytes).partition(b"\r\n\r\n")

    assert head.startswith(f"HTTP/1.1 {status} ".encode()), head
    assert b"Content-Type: application/problem+json" in head
    assert (json.loads(body)["status"], json.loads(body)["code"]) == (status, code)
    assert rig.upstream.seen == []


def test_whoever_leaves_within_a_body_leaves_no_traceback(rig: Rig, log: Path) -> None:
    with socket.create_connection(("127.0.0.1", rig.port), timeout=30) as connection:
        connection.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")

    written = ""
    while "Connection lost" not in written:
        written = log.read_text()
    assert "POST /v1/images: no whole body came (Connection lost)" in written
    assert "Traceback" not in written


def test_two_keys_that_differ_in_a_raw_byte_are_never_one(rig: Rig) -> None:
    for byte in (b"\xe4", b"\xf6"):
        rig.raw(POST + b"Idempotency-Key: a" + byte + b"\r\nContent-Length: 0\r\n\r\n")

    assert rig.upstream.seen == []


def test_a_fault_of_the_front_is_a_problem_that_says_so_with_its_traceback_in_the_log(
    rig: Rig, log: Path
) -> None:
    no_target: Any = object()
    rig.front.target = no_target

    answer = rig.get("/v1/jobs")

    assert answer.status == 500
    assert answer.problem is not None
    assert answer.problem.code == "internal"
    assert "Traceback" in log.read_text()


def test_a_header_in_utf_8_passes_as_it_is(rig: Rig) -> None:
    rig.raw(POST + "X-Name: ü\r\nContent-Length: 0\r\n\r\n".encode())

    assert rig.upstream.seen[0][0].headers["X-Name"] == "ü"
