"""What stands in the dead-letter queue: annotated copies, read back for the person who decides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Job
from thumbline.domain.json_text import parse_json
from thumbline.domain.keys import is_job_id

_WHOLE_NUMBER = re.compile(r"[0-9]{1,14}")
"""Room for every number that we write; as epoch milliseconds, a year that a calendar can still show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """One copy. `job_id` and `generation` are None where the message that it copies named none."""

    job_id: str | None
    generation: int | None
    code: str
    reason: str
    attempts: int | None
    last_error: str | None
    first_seen: int | None
    """Epoch milliseconds."""

    @classmethod
    def read(cls, body: str, attributes: Mapping[str, str]) -> Self:
        """Never raises: a foreign message in the queue must be shown as well, under an empty code."""
        job_id = attributes.get("job_id") or _job_id_of(body)
        return cls(
            job_id=job_id if job_id is not None and is_job_id(job_id) else None,
            generation=_whole(attributes.get("generation")),
            code=attributes.get("code", ""),
            reason=attributes.get("reason", ""),
            attempts=_whole(attributes.get("attempts")),
            last_error=attributes.get("last_error"),
            first_seen=_whole(attributes.get("first_seen")),
        )


def owes_copy(job: Job) -> bool:
    """Exhausted is the one failure that is also the operator's work."""
    return job.failure is not None and job.failure.code is FailureCode.ATTEMPTS_EXHAUSTED


def _job_id_of(body: str) -> str | None:
    try:
        document = parse_json(body)
    except ValueError:
        return None
    job_id = document.get("job_id") if isinstance(document, dict) else None
    return job_id if isinstance(job_id, str) else None


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and _WHOLE_NUMBER.fullmatch(text) else None
