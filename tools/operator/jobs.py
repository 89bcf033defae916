"""`jobs show`, `jobs why` and `jobs list`."""

from __future__ import annotations

import json

from thumbline.domain.job import Status
from thumbline.service.explain_job import Explanation, Observation, explain_job
from thumbline.service.survey_jobs import newest_with_status
from tools.operator.console import Console, duration, listing, moment, table
from tools.operator.documents import job_document, summary_document
from tools.operator.errors import OperatorError
from tools.operator.sentences import sentence
from tools.operator.stage import Stage


def show_job(job_id: str, stage: Stage, console: Console) -> None:
    """Raises OperatorError for an unknown id."""
    job = stage.reconciler.jobs.get(job_id)
    if job is None:
        raise unknown_job(job_id, stage)
    document = job_document(job)
    facts = {name: json.dumps(it) if isinstance(it, dict | list) else it for name, it in document.items()}
    console.show(listing(facts), {"job": document})


def explain(job_id: str, stage: Stage, console: Console) -> None:
    """Raises OperatorError for an unknown id."""
    reconciler = stage.reconciler
    explained = explain_job(
        job_id,
        Observation(
            jobs=reconciler.jobs,
            work_queue=reconciler.work_queue,
            snapshots=reconciler.snapshots,
            clock=reconciler.clock,
            timings=reconciler.timings,
        ),
    )
    if explained.job is None:
        raise unknown_job(job_id, stage)
    words = sentence(explained.job, explained, reconciler.clock.now(), reconciler.timings)
    facts = _facts(explained)
    document = {
        "job_id": job_id,
        "reason": explained.reason.value,
        "sentence": words,
        "until": moment(explained.until),
        "facts": facts,
    }
    console.show(f"{words}\n\n{listing(facts)}", document)


def list_jobs(status: Status, limit: int, stage: Stage, console: Console) -> None:
    found = newest_with_status(status, stage.statuses, limit)
    now = stage.reconciler.clock.now()
    rows = [
        (
            one.job_id,
            one.status,
            duration(now - one.created_at),
            moment(one.finished_at),
            moment(one.deleted_at),
        )
        for one in found
    ]
    text = table(("JOB", "STATUS", "AGE", "FINISHED", "DELETED"), rows) if rows else f"No job is {status}."
    console.show(text, {"jobs": [summary_document(one) for one in found]})


def unknown_job(job_id: str, stage: Stage) -> OperatorError:
    return OperatorError(
        f"{stage.label} has no job {job_id}: it was never accepted there, or its row is gone, because it was"
        " deleted or its retention is over."
    )


def _facts(explained: Explanation) -> dict[str, object]:
    job, depth, snapshot = explained.job, explained.depth, explained.snapshot
    facts: dict[str, object] = {}
    if job is not None:
        facts |= {
            "status": job.status.value,
            "attempts": job.attempts,
            "generation": job.generation,
            "created_at": moment(job.created_at),
            "available_at": moment(job.available_at),
            "lease_expires_at": moment(job.lease_expires_at),
            "deadline_at": moment(job.deadline_at),
            "next_check_at": moment(job.next_check_at),
            "republish_count": job.republish_count,
            "last_failure": None if job.failure is None else f"{job.failure.code}: {job.failure.detail}",
        }
    if depth is not None:
        facts |= {
            "queue_visible": depth.visible,
            "queue_in_flight": depth.in_flight,
            "queue_delayed": depth.delayed,
        }
    if snapshot is not None:
        facts |= {
            "snapshot_taken_at": moment(snapshot.taken_at),
            "expected_wait_ms": snapshot.expected_wait_ms,
        }
    return facts
