"""Jobs and copies as `--json` shows them: the attributes' own names, and times in ISO 8601."""

from __future__ import annotations

from typing import Any

from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.job import Job
from thumbline.domain.listing import JobSummary
from thumbline.ports.queue import ReceivedMessage
from tools.operator.console import moment

_TIMES = frozenset(
    {
        "available_at",
        "created_at",
        "deadline_at",
        "deleted_at",
        "finished_at",
        "lease_expires_at",
        "next_check_at",
        "started_at",
    }
)


def job_document(job: Job) -> dict[str, Any]:
    """Every attribute that the row has; `expires_at`, which DynamoDB counts in seconds, as a time too."""
    row = {name: moment(value) if name in _TIMES else value for name, value in job.to_row().items()}
    if job.expires_at is not None:
        row["expires_at"] = moment(job.expires_at * 1000)
    if job.trace:
        row["trace"] = [entry | {"at": moment(entry["at"])} for entry in map(dict, job.trace)]
    return row


def summary_document(summary: JobSummary) -> dict[str, Any]:
    return {
        "job_id": summary.job_id,
        "status": summary.status.value,
        "created_at": moment(summary.created_at),
        "finished_at": moment(summary.finished_at),
        "deleted_at": moment(summary.deleted_at),
    }


def copy_document(copy: ReceivedMessage) -> dict[str, Any]:
    letter = DeadLetter.read(copy.body, copy.attributes)
    return {
        "message_id": copy.message_id,
        "job_id": letter.job_id,
        "generation": letter.generation,
        "code": letter.code,
        "attempts": letter.attempts,
        "last_error": letter.last_error,
        "reason": letter.reason,
        "first_seen": moment(letter.first_seen),
        "receive_count": copy.receive_count,
        "body": copy.body,
    }
