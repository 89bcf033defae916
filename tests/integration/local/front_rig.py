"""The front before a fake upstream, on sockets of their own."""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tools.client import Answer, ImageApi
from tools.local.front import Front
from tools.local.gateway import GatewayResponses


def _gateway_response(code: str, status: str | None, **headers: str) -> dict[str, Any]:
    return {
        "StatusCode": status,
        "ResponseParameters": {
            f"gatewayresponse.header.{name}": f"'{value}'" for name, value in headers.items()
        },
        "ResponseTemplates": {
            "application/json": json.dumps({"code": code, "request_id": "$context.requestId"})
        },
    }


RESPONSES = GatewayResponses(
    {
        "REQUEST_TOO_LARGE": _gateway_response("payload_too_large", "413"),
        "INTEGRATION_TIMEOUT": _gateway_response("gateway_timeout", "504", **{"Retry-After": "5"}),
        "DEFAULT_5XX": _gateway_response("internal", None, **{"Retry-After": "5"}),
    }
)


@dataclass
class Upstream:
    """Plays the emulator: remembers what reached it, answers by the last part of the path."""

    seen: list[tuple[web.Request, bytes]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    def application(self) -> web.Application:
        application = web.Application(client_max_size=2**30)
        application.router.add_route("*", "/{path:.*}", self._answer)
        return application

    async def _answer(self, request: web.Request) -> web.Response:
        self.seen.append((request, await request.read()))
        answer = request.path.rpartition("/")[2]
        if answer == "redirect":
            return web.Response(status=302, headers={"Location": "/elsewhere"})
        if answer == "cookies":
            response = web.Response()
            response.headers.add("Set-Cookie", "a=1")
            response.headers.add("Set-Cookie", "b=2")
            return response
        if answer == "gzip":
            return web.Response(body=b"not really gzip", headers={"Content-Encoding": "gzip"})
        if answer == "crash":
            return web.json_response({"message": "Internal server error"}, status=502)
        if answer == "own-503":
            problem = json.dumps({"code": "unavailable"})
            return web.Response(status=503, text=problem, content_type="application/problem+json")
        if answer == "slow":
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            await asyncio.sleep(0.1)
            self.at_once -= 1
        if answer == "silence":
            await asyncio.sleep(3600)
        return web.Response(
            body=b"hello", headers={"X-Kept": "yes", "Connection": "X-Secret", "X-Secret": "no"}
        )


@dataclass
class Rig:
    upstream: Upstream
    front: Front
    api: ImageApi
    port: int

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.request(method, f"http://127.0.0.1:{self.port}{path}", headers=named)

    def post(self, body: bytes) -> Answer:
        return self.api.post_image(body, key="k", content_type="image/jpeg")

    def raw(self, request: bytes) -> bytes:
        """The answer to exactly these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(request)
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
        return answer
