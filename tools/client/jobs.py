"""Following a job from acceptance to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tools.client.api import Answer, ImageApi, NoAnswerError, Problem

FINAL = frozenset({"SUCCEEDED", "FAILED"})


class JobPendingError(Exception):
    """The job had not reached its end when patience ran out."""


class JobRefusedError(Exception):
    """The API refuses to show the job, and asking again would not help."""


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
    def seconds_until_start(self) -> float | None:
        """From acceptance to the first claim, by the row's own clock; None while it has not started."""
        if "started_at" not in self.document:
            return None
        return (_moment(self.document["started_at"]) - _moment(self.document["created_at"])).total_seconds()

    @property
    def problem(self) -> Problem | None:
        """Why the job FAILED."""
        document = self.document.get("problem")
        return Problem.from_document(document) if document else None


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def read_job(api: ImageApi, url: str) -> Job | None:
    """The job, or None when the API cannot say at the moment. Raises JobRefusedError."""
    try:
        answer = api.get(url)
    except NoAnswerError:
        return None
    if answer.status == 200:
        return Job(answer, answer.json())
    if answer.status == 429 or answer.status >= 500:
        return None
    raise JobRefusedError(f"{url} answered {answer.problem or answer.status}")


def follow(
    api: ImageApi,
    url: str,
    *,
    patience_seconds: float,
    interval_seconds: float,
    seen: str = "",
    on_change: Callable[[Job], None] = lambda _job: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Job:
    """Reads the job until it has ended and reports each status that differs from the last one `seen`.

    Raises JobPendingError when it has not ended within `patience_seconds`.
    """
    began = clock()
    while True:
        job = read_job(api, url)
        if job is not None and job.status != seen:
            seen = job.status
            on_change(job)
        if job is not None and job.status in FINAL:
            return job
        if clock() - began >= patience_seconds:
            raise JobPendingError(f"{url} was still {seen or 'unreadable'} after {patience_seconds:.0f} s")
        sleep(interval_seconds)
