"""One HTTP exchange at a time, nothing hidden: no redirects followed, no retries, statuses as they come."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urljoin

import urllib3

PROBLEM_TYPE = "application/problem+json"
TIMEOUT_SECONDS = 60.0
"""Longer than the API's own limit of 29 s, so that its answer is what we see."""


class NoAnswerError(Exception):
    """The connection failed or timed out: the outcome is unknown, and the same key may be sent again."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An RFC 9457 problem document: a stable code and a sentence that says what to do."""

    status: int
    code: str
    detail: str

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.detail}" if self.status else f"{self.code}: {self.detail}"

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, status: int = 0) -> Problem:
        return cls(
            status=int(document.get("status") or status),
            code=str(document.get("code", "")),
            detail=str(document.get("detail") or document.get("title") or ""),
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, headers and body, and the URL that they came from, against which links resolve."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document

    def link(self, reference: str) -> str:
        """`reference` resolved as RFC 3986 says."""
        return urljoin(self.url, reference)

    @property
    def location(self) -> str:
        return self.link(self.headers["Location"])

    @property
    def retry_after_seconds(self) -> float | None:
        value = self.headers.get("Retry-After", "")
        return float(value) if value.isascii() and value.isdigit() else None

    @property
    def problem(self) -> Problem | None:
        if self.headers.get("Content-Type", "").partition(";")[0] != PROBLEM_TYPE:
            return None
        return Problem.from_document(self.json(), status=self.status)


class ImageApi:
    """The API at `base_url`, such as `http://127.0.0.1:8080/v1`. Safe to share between threads."""

    def __init__(self, base_url: str, *, connections: int = 1) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = urllib3.PoolManager(
            maxsize=connections, retries=False, timeout=urllib3.Timeout(total=TIMEOUT_SECONDS)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.clear()

    def post_image(
        self,
        picture: bytes,
        *,
        key: str | None,
        content_type: str = "application/octet-stream",
        presets: Sequence[str] = (),
    ) -> Answer:
        headers = {"Content-Type": content_type}
        if key is not None:
            headers["Idempotency-Key"] = key
        query = "?" + urlencode({"presets": ",".join(presets)}) if presets else ""
        return self.request("POST", f"{self.base_url}/images{query}", headers=headers, body=picture)

    def get(self, url: str) -> Answer:
        return self.request("GET", url)

    def fetch(self, url: str) -> Answer:
        """GET that follows redirects, as a browser would."""
        return self.request("GET", url, redirects=3)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        redirects: int = 0,
    ) -> Answer:
        """Raises NoAnswerError when there is no whole answer."""
        try:
            response = self._http.request(method, url, headers=headers, body=body, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            raise NoAnswerError(f"{method} {url}: {error}") from error
        answer = Answer(url, response.status, response.headers, response.data)
        if redirects and answer.status in (301, 302, 303, 307, 308):
            return self.request(method, answer.location, redirects=redirects - 1)
        return answer
