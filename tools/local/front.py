"""The front: `http://127.0.0.1:PORT/v1/…` before the emulator, so that root-relative links resolve as on AWS.

It passes requests on byte for byte and answers only where the emulator cannot: payloads over the limits of
API Gateway and Lambda, crashed handlers, and the emulator's own absence. All its own answers are problem
documents.
"""

from __future__ import annotations

import asyncio
import io
import logging
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web
from multidict import CIMultiDict
from yarl import URL

from tools.local.gateway import (
    DEFAULT_5XX,
    INTEGRATION_TIMEOUT,
    PROBLEM_TYPE,
    REQUEST_TOO_LARGE,
    GatewayResponses,
    exceeds_limits,
)
from tools.local.refusals import answered_as_problem, expected, malformed, problem

STAGE_PATH = "/v1"
DOCS_PATH = "/docs"
"""Outside the stage, so that no deployment has to have it."""
HANDLERS_AT_ONCE = 4
"""Each call in progress costs the emulator a process, seconds of CPU to start it and 70 MB. More than these
wait here, where on AWS they would run: twenty cold starts at once keep two cores busy beyond the timeout."""
INTEGRATION_TIMEOUT_SECONDS = 29.0
"""API Gateway's limit for one integration; later answers are lost."""

_DOCS_PAGE = Path(__file__).with_name("docs_page.html")
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_CLIENT_DEFAULTS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_LOG = logging.getLogger("thumbline.front")


@dataclass(frozen=True, slots=True)
class Target:
    """Where the deployed API answers, and what its gateway would say on its own."""

    emulator_url: str
    api_id: str
    responses: GatewayResponses
    timeout_seconds: float = INTEGRATION_TIMEOUT_SECONDS

    def address(self, raw_path: str) -> URL:
        return URL(f"{self.emulator_url}/_aws/execute-api/{self.api_id}{raw_path}", encoded=True)


class Front:
    """An aiohttp application. Until `target` is set, it answers that the stack is still starting."""

    def __init__(self) -> None:
        self.target: Target | None = None
        self._turn = asyncio.Semaphore(HANDLERS_AT_ONCE)
        self._session: ClientSession | None = None

    def application(self) -> web.Application:
        application = web.Application(middlewares=[answered_as_problem])
        application.cleanup_ctx.append(self._client)
        application.router.add_get(DOCS_PATH, _docs_page)
        application.router.add_route("*", "/{path:.*}", self._handle, expect_handler=expected)
        return application

    async def _client(self, _application: web.Application) -> AsyncIterator[None]:
        async with ClientSession(
            auto_decompress=False,
            connector=TCPConnector(limit=0),
            cookie_jar=DummyCookieJar(),
            skip_auto_headers=_CLIENT_DEFAULTS,
        ) as session:
            self._session = session
            yield

    async def _handle(self, request: web.Request) -> web.Response:
        target = self.target
        if target is None:
            return problem(503, "starting", "The local stack is still starting; try again in a moment.")
        if not _is_inside_stage(request.raw_path):
            return problem(404, "not_found", f"The API answers below {STAGE_PATH}/ only; correct the path.")
        if _has_bytes_of_no_text(request.headers):
            return malformed(None)
        try:
            body = await _read_within_limits(request)
        except ConnectionError as error:  # nobody is there any more to read the answer
            _LOG.warning("%s %s: no whole body came (%s)", request.method, request.path, error)
            return malformed(error)
        if body is None:
            return _gateway_answer(target, request, REQUEST_TOO_LARGE, 413, "Request Too Long")
        return await self._forward(request, target, body)

    async def _forward(self, request: web.Request, target: Target, body: bytes) -> web.Response:
        assert self._session is not None
        try:
            async with (
                self._turn,
                self._session.request(
                    request.method,
                    target.address(request.raw_path),
                    headers=_request_headers(request, body),
                    data=io.BytesIO(body) if request.body_exists else None,
                    allow_redirects=False,
                    timeout=ClientTimeout(total=target.timeout_seconds),
                ) as upstream,
            ):
                content = await upstream.read()
        except TimeoutError:
            _LOG.warning("%s %s: no answer within %s s", request.method, request.path, target.timeout_seconds)
            return _gateway_answer(target, request, INTEGRATION_TIMEOUT, 504, "Endpoint request timed out")
        except ClientError as error:
            _LOG.warning("%s %s: %s", request.method, request.path, error)
            return problem(
                503,
                "emulator_unavailable",
                "The emulator does not answer and the outcome is unknown; see whether the local stack runs,"
                " and send the same request with the same Idempotency-Key again.",
            )
        if upstream.status >= 500 and upstream.content_type != PROBLEM_TYPE:
            # A crashed handler: the emulator's bare JSON passes by the stack's gateway responses.
            _LOG.error("%s %s: %d %s", request.method, request.path, upstream.status, content[:500])
            return _gateway_answer(target, request, DEFAULT_5XX, upstream.status, "Internal server error")
        # A HEAD answer keeps the length that its GET would have; otherwise aiohttp counts the bytes itself.
        dropped = set() if request.method == "HEAD" else {"content-length"}
        return web.Response(
            status=upstream.status,
            headers=_end_to_end(upstream.headers, dropped=dropped),
            body=content,
        )


async def _docs_page(_request: web.Request) -> web.FileResponse:
    """The API's description, readable; the page asks the API for it."""
    return web.FileResponse(_DOCS_PAGE)


def _is_inside_stage(raw_path: str) -> bool:
    path = raw_path.partition("?")[0]
    return path == STAGE_PATH or path.startswith(f"{STAGE_PATH}/")


def _has_bytes_of_no_text(headers: Mapping[str, str]) -> bool:
    """Whether a value has bytes that are no UTF-8: aiohttp reads them as surrogates, which it cannot send on,
    and left out they would make one idempotency key of two. Names and paths have none: its parser refuses."""
    return any("\ud800" <= character <= "\udfff" for value in headers.values() for character in value)


async def _read_within_limits(request: web.Request) -> bytes | None:
    """The body; None once it is known to be too large, which a declared length tells before any byte."""
    if request.content_length is not None and exceeds_limits(request.content_length):
        return None
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if exceeds_limits(len(body)):
            return None
    return bytes(body)


def _request_headers(request: web.Request, body: bytes) -> CIMultiDict[str]:
    """API Gateway passes on every body as bytes (binary type `*/*`), the emulator only typed ones."""
    headers = _end_to_end(request.headers, dropped={"host", "content-length", "expect"})
    if body and "Content-Type" not in headers:
        headers["Content-Type"] = "application/octet-stream"
    return headers


def _end_to_end(headers: Mapping[str, str], *, dropped: set[str]) -> CIMultiDict[str]:
    """Headers that are meant for the other end: hop-by-hop ones and those named by Connection stay behind."""
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    hidden = _HOP_BY_HOP | named | dropped
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in hidden)


def _gateway_answer(
    target: Target, request: web.Request, response_type: str, status: int, message: str
) -> web.Response:
    answer = target.responses.answer(
        response_type, message=message, request_id=str(uuid.uuid4()), path=request.path, default_status=status
    )
    return web.Response(status=answer.status, headers=answer.headers, body=answer.body)
