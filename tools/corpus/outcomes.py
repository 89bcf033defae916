"""What became of one file, in the words of the checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tools.client import Answer, Job

Verdict = Literal["succeeded", "rejected", "failed", "pending"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`rejected`: refused at POST or failed for good, the picture being at fault. `failed`: we are at fault.

    `seconds`: from the POST to the answer. The rest is as the job's document has it.
    """

    verdict: Verdict
    seconds: float
    reason: str = ""
    width: int | None = None
    height: int | None = None
    notes: tuple[str, ...] = ()
    dominant_colour: str | None = None
    thumbnail: str | None = None
    """The file that it was saved as."""

    def to_record(self) -> dict[str, Any]:
        record: dict[str, Any] = {"outcome": self.verdict, "seconds": round(self.seconds, 3)}
        if self.reason:
            record["reason"] = self.reason
        if self.width is not None:
            record |= {"width": self.width, "height": self.height}
        if self.notes:
            record["notes"] = list(self.notes)
        return record


def of_refusal(answer: Answer, seconds: float) -> Outcome:
    """An answer to POST other than 202: a 4xx is the picture's fault, but for 408 and 429."""
    is_final = 400 <= answer.status < 500 and answer.status not in (408, 429)
    problem = answer.problem
    reason = f"{problem.code}: {problem.detail}" if problem else f"{answer.status}: {answer.text[:200]}"
    return Outcome("rejected" if is_final else "failed", seconds, reason)


def of_job(job: Job, seconds: float, thumbnail: str | None = None) -> Outcome:
    """A job that has ended. A failure that may be tried again is ours."""
    document = job.document
    if job.status == "SUCCEEDED":
        original: Mapping[str, Any] = document.get("original", {})
        return Outcome(
            "succeeded",
            seconds,
            width=original.get("width"),
            height=original.get("height"),
            notes=tuple(document.get("notes", ())),
            dominant_colour=document.get("dominant_colour"),
            thumbnail=thumbnail,
        )
    problem = document.get("problem", {})
    reason = f"{problem.get('code', 'unknown')}: {problem.get('detail', 'no reason was given')}"
    return Outcome("failed" if problem.get("retryable", True) else "rejected", seconds, reason)
