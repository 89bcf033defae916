"""An API that answers from a script, and a clock that only moves when somebody sleeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.client import Answer, ImageApi, NoAnswerError

BASE = "http://api.test/v1"
JOB = f"{BASE}/jobs/img_1"


def answer(status: int, document: object = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(JOB, status, named, json.dumps(document).encode())


def accepted() -> Answer:
    return answer(202, {"job_id": "img_1", "status": "QUEUED"}, Location="/v1/jobs/img_1")


def job(status: str, **more: Any) -> Answer:
    return answer(200, {"job_id": "img_1", "status": status, **more})


def problem(status: int, code: str, **headers: str) -> Answer:
    document = {"status": status, "code": code, "detail": "Do this."}
    return answer(status, document, Content_Type="application/problem+json", **headers)


class ScriptedApi(ImageApi):
    """Gives its answers in order, the last one for ever; None stands for no answer."""

    def __init__(self, *answers: Answer | None) -> None:
        super().__init__(BASE)
        self._answers = list(answers)
        self.requests: list[tuple[str, str, Mapping[str, str]]] = []

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,  # noqa: ARG002 - the script does not look at it
        redirects: int = 0,  # noqa: ARG002
    ) -> Answer:
        self.requests.append((method, url, headers or {}))
        given = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if given is None:
            raise NoAnswerError(f"{method} {url}: connection refused")
        return given


@dataclass
class FakeClock:
    now: float = 0.0
    sleeps: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds
