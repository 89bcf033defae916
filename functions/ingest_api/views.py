"""A job as its client sees it. Links are root-relative and resolve from the URL that was called."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from functions.ingest_api import problems
from thumbline.domain.job import Job, Result, Status
from thumbline.domain.presets import DEFAULT_PRESET_NAME
from thumbline.domain.signatures import media_type


def job_link(job_id: str) -> str:
    return f"/v1/jobs/{job_id}"


def thumbnail_link(job_id: str, preset: str) -> str:
    return f"/v1/images/{job_id}/{preset}"


def job_document(job: Job) -> dict[str, Any]:
    document: dict[str, Any] = {
        "job_id": job.job_id,
        "status": job.status.value,
        "created_at": timestamp(job.created_at),
        "deadline_at": timestamp(job.deadline_at),
        "byte_length": job.byte_length,
    }
    if job.started_at is not None:
        document["started_at"] = timestamp(job.started_at)
    if job.finished_at is not None:
        document["finished_at"] = timestamp(job.finished_at)
    if job.status is Status.SUCCEEDED:
        document["result"] = thumbnail_link(job.job_id, DEFAULT_PRESET_NAME)
        document |= _picture(job.results[DEFAULT_PRESET_NAME])
        document["results"] = {
            preset: {
                "href": thumbnail_link(job.job_id, preset),
                "width": result.width,
                "height": result.height,
                "bytes": result.bytes,
                "type": result.type,
                "sha256": result.sha256,
            }
            for preset, result in job.results.items()
        }
    if job.status is Status.FAILED and job.failure is not None:
        document["problem"] = problems.of_failure(job.failure).to_document()
    return document


def _picture(result: Result) -> dict[str, Any]:
    """What the job's original is. Nothing for a job that was rendered before this was kept."""
    if result.source_type is None:
        return {}
    return {
        "original": {
            "type": media_type(result.source_type),
            "width": result.source_width,
            "height": result.source_height,
        },
        "dominant_colour": result.dominant_colour,
        "placeholder": result.placeholder,
        "notes": list(result.notes),
    }


def timestamp(milliseconds: int) -> str:
    """RFC 3339, in UTC."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
