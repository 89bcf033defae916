"""What the front answers on its own: problem documents, also to what aiohttp's parser refuses as no HTTP."""

from __future__ import annotations

import json
import logging
import uuid
from http import HTTPStatus

from aiohttp import HttpVersion11, web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.typedefs import Handler

from tools.local.gateway import PROBLEM_TYPE

RETRY_AFTER_SECONDS = 2
_LOG = logging.getLogger("thumbline.front")


def problem(status: int, code: str, detail: str) -> web.Response:
    document = {
        "type": f"/v1/problems/{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "request_id": str(uuid.uuid4()),
    }
    headers = {"Content-Type": PROBLEM_TYPE}
    if status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return web.Response(status=status, headers=headers, body=json.dumps(document).encode())


def malformed(error: BaseException | None) -> web.Response:
    """Never with the parser's own words: they quote the request, secrets included."""
    if isinstance(error, LineTooLong):
        return problem(400, "bad_request", "A line of the request's head is too long; shorten it.")
    return problem(
        400, "bad_request", "The request is malformed; correct its request line, its headers or its body."
    )


@web.middleware
async def answered_as_problem(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What aiohttp refuses for want of a route: `CONNECT`, `OPTIONS *`."""
    try:
        return await handler(request)
    except web.HTTPException as refusal:
        return problem(refusal.status, "not_found", "The API answers paths; correct the request's target.")


async def expected(request: web.Request) -> web.StreamResponse | None:
    """RFC 9110, section 10.1.1: 100-continue is the one expectation; before HTTP/1.1 there is none."""
    if request.version < HttpVersion11:
        return None
    if request.headers["Expect"].lower() != "100-continue":
        return problem(417, "bad_request", "The expectation is not known; leave the header Expect out.")
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0  # nothing of the answer itself has been sent
    return None


class ProblemHandler(web.RequestHandler):
    """One connection. What its parser refuses reaches neither middleware nor handler, only `handle_error`."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Raises ConnectionError where a part of another answer is sent already."""
        if status == HTTPStatus.BAD_REQUEST:
            _LOG.warning("%s sent what is no request (%s)", request.remote, type(exc).__name__)
            response = malformed(exc)
        else:
            super().handle_error(request, status, exc, message)  # writes down what is a fault of ours
            response = problem(
                status, "internal", "The front failed, and the outcome is unknown: see its log."
            )
        response.force_close()
        return response
