"""Which use case answers which path; what HEAD, OPTIONS and a wrong method get."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from functions.ingest_api import problems
from functions.ingest_api.answers import Answer
from functions.ingest_api.problems import ProblemError
from functions.ingest_api.requests import Request
from thumbline.bootstrap.ingest_api import Ingest

STAGE_PREFIX = "/v1"
"""Only a custom domain's base path reaches us as part of the path; the stage's own name does not."""

View = Callable[[Request, Ingest], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """`path` names its parameters in braces, as OpenAPI does. `metered`: it counts against the quota."""

    method: str
    path: str
    view: View
    metered: bool = True
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        expression = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(self.path))
        object.__setattr__(self, "pattern", re.compile(f"{expression}/?"))

    @property
    def methods(self) -> tuple[str, ...]:
        """HEAD is GET without a body: RFC 9110 section 9.3.2."""
        return ("GET", "HEAD") if self.method == "GET" else (self.method,)


@dataclass(frozen=True, slots=True)
class Router:
    routes: Sequence[Route]

    def find(self, request: Request) -> tuple[Route, Request]:
        """The route, and the request with its path's parameters. Raises ProblemError: 404 or 405."""
        for route in self.routes:
            matched = route.pattern.fullmatch(_path(request))
            if matched and request.method in route.methods:
                return route, request.with_parameters(matched.groupdict())
        raise ProblemError(problems.method_not_allowed(request.method, self.allowed(request)))

    def allowed(self, request: Request) -> list[str]:
        """The methods that this path knows. Raises ProblemError where there is no such path."""
        path = _path(request)
        known = [method for route in self.routes if route.pattern.fullmatch(path) for method in route.methods]
        if not known:
            raise ProblemError(problems.route_not_found())
        return [*known, "OPTIONS"]


def _path(request: Request) -> str:
    path = request.path
    return path.removeprefix(STAGE_PREFIX) if path.startswith(f"{STAGE_PREFIX}/") else path
