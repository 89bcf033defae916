"""Uploads and lists of jobs as their client sees them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from functions.ingest_api.views import job_link, timestamp
from thumbline.domain.job import Status
from thumbline.domain.listing import JobPage, JobSummary
from thumbline.service.begin_upload import BegunUpload


def upload_document(begun: BegunUpload) -> dict[str, Any]:
    return {
        "upload_id": begun.upload_id,
        "url": begun.form.url,
        "fields": dict(begun.form.fields),
        "expires_at": timestamp(begun.expires_at),
    }


def listing_document(
    page: JobPage, *, status: Status | None, limit: int, cursor: str | None
) -> dict[str, Any]:
    document: dict[str, Any] = {"jobs": [_summary(summary) for summary in page.jobs]}
    if cursor is not None:
        query = {"limit": str(limit), "cursor": cursor}
        if status is not None:
            query["status"] = status.value
        document["next"] = f"/v1/jobs?{urlencode(query)}"
    return document


def _summary(summary: JobSummary) -> dict[str, Any]:
    document = {
        "job_id": summary.job_id,
        "status": summary.status.value,
        "created_at": timestamp(summary.created_at),
        "href": job_link(summary.job_id),
    }
    if summary.finished_at is not None:
        document["finished_at"] = timestamp(summary.finished_at)
    return document
