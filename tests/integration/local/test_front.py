"""What the front passes untouched, and what it answers in the gateway's place."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.integration.local.front_rig import RESPONSES, Rig
from tools.local.front import HANDLERS_AT_ONCE, Target
from tools.local.gateway import LAMBDA_EVENT_LIMIT_BYTES
from tools.local.ports import free_port

LARGEST_BODY_BYTES = LAMBDA_EVENT_LIMIT_BYTES // 4 * 3


def test_the_raw_path_and_query_reach_the_emulator_byte_for_byte(rig: Rig) -> None:
    answer = rig.raw(
        b"GET /v1/jobs/a%2Fb%20c/../%C3%A9?x=%41&y=1+2&z=a%2Bb HTTP/1.1\r\n"
        b"Host: x\r\nConnection: close\r\n\r\n"
    )

    assert answer.startswith(b"HTTP/1.1 200")
    raw_path = rig.upstream.seen[0][0].raw_path
    assert raw_path == "/_aws/execute-api/abc123/v1/jobs/a%2Fb%20c/../%C3%A9?x=%41&y=1+2&z=a%2Bb"


def test_the_host_is_the_emulators_and_hop_by_hop_headers_stay_behind(rig: Rig) -> None:
    answer = rig.get(
        "/v1/x", Connection="X-Private", X_Private="1", TE="trailers", X_Public="1", Cookie="c=1"
    )

    sent = rig.upstream.seen[0][0].headers
    assert rig.front.target is not None
    assert f"http://{sent['Host']}" == rig.front.target.emulator_url
    assert sent["X-Public"] == "1"
    assert sent["Cookie"] == "c=1"
    assert "X-Private" not in sent
    assert "TE" not in sent
    assert answer.headers["X-Kept"] == "yes"
    assert "X-Secret" not in answer.headers


def test_no_header_is_invented(rig: Rig) -> None:
    rig.raw(b"GET /v1/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert set(rig.upstream.seen[0][0].headers) == {"Host"}


def test_redirects_are_handed_to_the_client(rig: Rig) -> None:
    answer = rig.get("/v1/redirect")

    assert answer.status == 302
    assert answer.headers["Location"] == "/elsewhere"
    assert len(rig.upstream.seen) == 1


def test_cookies_pass_one_by_one_and_are_not_kept(rig: Rig) -> None:
    answer = rig.raw(b"GET /v1/cookies HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    rig.get("/v1/x")

    assert b"Set-Cookie: a=1\r\n" in answer
    assert b"Set-Cookie: b=2\r\n" in answer
    assert "Cookie" not in rig.upstream.seen[1][0].headers


def test_encoded_answers_are_not_decoded(rig: Rig) -> None:
    answer = rig.raw(b"GET /v1/gzip HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert b"Content-Encoding: gzip\r\n" in answer
    assert answer.endswith(b"not really gzip")


def test_encoded_bodies_are_not_decoded(rig: Rig) -> None:
    rig.raw(
        b"POST /v1/images HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"
    )

    request, body = rig.upstream.seen[0]
    assert (request.headers["Content-Encoding"], body) == ("gzip", b"abc")


def test_options_and_head_pass(rig: Rig) -> None:
    options = rig.get("/v1/x", "OPTIONS")
    head = rig.get("/v1/x", "HEAD")

    assert [request.method for request, _ in rig.upstream.seen] == ["OPTIONS", "HEAD"]
    assert options.body == b"hello"
    assert (head.status, head.headers["Content-Length"], head.body) == (200, "5", b"")


def test_a_body_without_a_declared_type_is_sent_as_bytes(rig: Rig) -> None:
    rig.raw(b"POST /v1/images HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n\xff\xd8")

    request, body = rig.upstream.seen[0]
    assert request.headers["Content-Type"] == "application/octet-stream"
    assert body == b"\xff\xd8"


def test_an_empty_post_stays_empty(rig: Rig) -> None:
    rig.raw(b"POST /v1/images HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    request, body = rig.upstream.seen[0]
    assert (request.headers.get("Content-Length"), body) == ("0", b"")
    assert "Content-Type" not in request.headers


def test_a_chunked_body_arrives_whole_and_with_its_length(rig: Rig) -> None:
    rig.raw(
        b"POST /v1/images HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
    )

    request, body = rig.upstream.seen[0]
    assert (request.headers["Content-Length"], body) == ("7", b"abcdefg")


def test_the_largest_body_that_lambda_takes_passes(rig: Rig) -> None:
    picture = bytes(LARGEST_BODY_BYTES)

    assert rig.post(picture).status == 200
    assert rig.upstream.seen[0][1] == picture


def test_one_byte_more_is_the_gateways_413(rig: Rig) -> None:
    answer = rig.post(bytes(LARGEST_BODY_BYTES + 1))

    assert answer.status == 413
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "payload_too_large"
    assert len(answer.json()["request_id"]) == 36
    assert rig.upstream.seen == []


def test_a_declared_length_over_the_limit_is_refused_before_any_byte_is_sent(rig: Rig) -> None:
    with socket.create_connection(("127.0.0.1", rig.port), timeout=30) as connection:
        connection.sendall(b"POST /v1/images HTTP/1.1\r\nHost: x\r\nContent-Length: 11000000\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
    assert rig.upstream.seen == []


def test_a_chunked_body_over_the_limit_is_refused(rig: Rig) -> None:
    chunk = b"100000\r\n" + bytes(0x100000) + b"\r\n"
    with socket.create_connection(("127.0.0.1", rig.port), timeout=30) as connection:
        connection.sendall(
            b"POST /v1/images HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + 5 * chunk
        )
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
    assert rig.upstream.seen == []


def test_a_crashed_handler_becomes_the_stacks_own_problem(rig: Rig) -> None:
    answer = rig.get("/v1/crash")

    assert answer.status == 502
    assert answer.problem is not None
    assert answer.problem.code == "internal"
    assert answer.retry_after_seconds == 5


def test_a_problem_of_the_api_passes_as_it_is(rig: Rig) -> None:
    answer = rig.get("/v1/own-503")

    assert (answer.status, answer.json()) == (503, {"code": "unavailable"})
    assert answer.retry_after_seconds is None


def test_an_absent_emulator_is_a_503_that_asks_to_wait(rig: Rig) -> None:
    rig.front.target = Target(f"http://127.0.0.1:{free_port()}", "abc123", RESPONSES)

    answer = rig.get("/v1/x")

    assert answer.status == 503
    assert answer.problem is not None
    assert answer.problem.code == "emulator_unavailable"
    assert answer.retry_after_seconds == 2


def test_silence_is_the_gateways_504(rig: Rig) -> None:
    assert rig.front.target is not None
    rig.front.target = Target(rig.front.target.emulator_url, "abc123", RESPONSES, timeout_seconds=0.2)

    answer = rig.get("/v1/silence")

    assert answer.status == 504
    assert answer.problem is not None
    assert answer.problem.code == "gateway_timeout"
    assert answer.retry_after_seconds == 5


def test_before_the_deployment_is_ready_clients_are_asked_to_wait(rig: Rig) -> None:
    rig.front.target = None

    answer = rig.get("/v1/x")

    assert (answer.status, answer.retry_after_seconds) == (503, 2)
    assert answer.problem is not None
    assert answer.problem.code == "starting"


@pytest.mark.parametrize("path", ["/", "/v2/images", "/v1x", "/_aws/execute-api/abc123/v1/images"])
def test_nothing_but_the_api_is_reachable(rig: Rig, path: str) -> None:
    answer = rig.get(path)

    assert answer.status == 404
    assert answer.problem is not None
    assert answer.problem.code == "not_found"
    assert rig.upstream.seen == []


def test_no_more_handlers_than_the_machine_bears_are_called_at_once(rig: Rig) -> None:
    """The others wait for their turn, and are answered all the same."""
    with ThreadPoolExecutor(3 * HANDLERS_AT_ONCE) as clients:
        answers = list(clients.map(lambda _: rig.get("/v1/slow"), range(3 * HANDLERS_AT_ONCE)))

    assert [answer.status for answer in answers] == [200] * len(answers)
    assert rig.upstream.most_at_once == HANDLERS_AT_ONCE


def test_the_docs_page_needs_nothing_but_the_api(rig: Rig) -> None:
    """No script, style or font of anybody else: it works without a network."""
    page = rig.api.get(rig.api.base_url.replace("/v1", "/docs"))

    assert (page.status, page.headers["Content-Type"]) == (200, "text/html")
    assert "/v1/openapi.json" in page.text
    assert "://" not in page.text
    assert rig.upstream.seen == []
