"""Following a job from acceptance to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tools.client.api import Answer, ImageApi, NoAnswerError, Problem

FINAL = frozenset({"SUCCEEDED", "FAILED"})


class JobPendingError(Exception):
    """The job had not reached its end when patience ran out."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job document and where it was read."""

    answer: Answer
    document: Mapping[str, Any]

    @property
    def job_id(self) -> str:
        return str(self.document["job_id"])

    @property
    def status(self) -> str:
        return str(self.document["status"])

    @property
    def result_url(self) -> str:
        """The link to the default thumbnail, resolved against the job's own URL."""
        return self.answer.link(self.document["result"])

    @property
    def problem(self) -> Problem | None:
        """Why the job FAILED."""
        document = self.document.get("problem")
        return Problem.from_document(document) if document else None


@dataclass(frozen=True, slots=True)
class Change:
    """A status and the seconds since following began at which it was first seen."""

    status: str
    seconds: float


def read_job(api: ImageApi, url: str) -> Job | None:
    """The job, or None when the API cannot say at the moment. Raises ValueError when it refuses for good."""
    try:
        answer = api.get(url)
    except NoAnswerError:
        return None
    if answer.status == 200:
        return Job(answer, answer.json())
    if answer.status == 429 or answer.status >= 500:
        return None
    raise ValueError(f"{url} answered {answer.problem or answer.status}")


def follow(
    api: ImageApi,
    url: str,
    *,
    patience_seconds: float,
    interval_seconds: float = 0.1,
    on_change: Callable[[Change], None] = lambda _change: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Job:
    """Reads the job until it has ended. Raises JobPendingError when it has not within `patience_seconds`."""
    began = clock()
    seen = ""
    while True:
        job = read_job(api, url)
        if job is not None and job.status != seen:
            seen = job.status
            on_change(Change(seen, clock() - began))
        if job is not None and job.status in FINAL:
            return job
        if clock() - began >= patience_seconds:
            raise JobPendingError(f"{url} was still {seen or 'unreadable'} after {patience_seconds:.0f} s")
        sleep(interval_seconds)
