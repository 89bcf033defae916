"""Every operation: what it takes and everything that it may answer."""

from __future__ import annotations

from typing import Any

from functions.ingest_api.openapi.parts import answer, problem_answers
from functions.ingest_api.openapi.schemas import JOB_ID, JOB_ID_SCHEMA, UPLOAD_ID, ref
from thumbline.domain.idempotency import BARE_KEY, QUOTED_KEY
from thumbline.domain.job import Status
from thumbline.settings import IngestSettings

Part = dict[str, Any]

_ACCEPTED = {"job_id": JOB_ID, "status": "QUEUED"}
_PICTURE = {"type": "string", "format": "binary"}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "An ETag that was answered before: 304 where nothing has changed.",
    "schema": {"type": "string"},
}
_JOB_ID = {"name": "job_id", "in": "path", "required": True, "schema": JOB_ID_SCHEMA, "example": JOB_ID}


def paths(settings: IngestSettings) -> Part:
    return {
        "/images": {"post": _post_image(settings)},
        "/images/{job_id}/{preset}": {"get": _get_thumbnail(settings)},
        "/images/{job_id}": {"delete": _delete_image()},
        "/uploads": {"post": _post_upload(settings)},
        "/jobs": {"get": _get_jobs()},
        "/jobs/{job_id}": {"get": _get_job()},
        "/openapi.json": {"get": _get_openapi()},
        "/problems/{code}": {"get": _get_problem()},
    }


def _post_image(settings: IngestSettings) -> Part:
    return {
        "operationId": "submitImage",
        "summary": "Submit a picture",
        "description": "Accepts the picture and returns at once; the thumbnails are made in the background."
        f" Send the bytes themselves, up to {settings.inline_limit_bytes:,}, or the id of an upload. A 4xx"
        " leaves no job behind; after a 5xx the outcome is unknown: send the same request under the same key"
        " again.",
        "parameters": [
            _idempotency_key(settings),
            {
                "name": "presets",
                "in": "query",
                "description": "Thumbnails owed besides the default one, which is always made.",
                "style": "form",
                "explode": False,
                "schema": {
                    "type": "array",
                    "items": {"type": "string", "enum": [preset.name for preset in settings.presets]},
                },
            },
            {
                "name": "deadline_seconds",
                "in": "query",
                "description": "When to give up: a job still open by then fails as `expired`.",
                "schema": _number(settings.timings.deadline_seconds, settings.timings.deadline_seconds),
            },
        ],
        "requestBody": {
            "required": True,
            "content": {
                "image/*": {"schema": _PICTURE},
                "application/octet-stream": {"schema": _PICTURE},
                "application/json": {"schema": ref("UploadCommit"), "example": {"upload_id": UPLOAD_ID}},
            },
        },
        "responses": {
            "202": answer(
                "Accepted: the job exists and will end.",
                ["Location", "Retry-After", "Idempotency-Replayed"],
                schema="Accepted",
                example=_ACCEPTED,
            ),
            **problem_answers(
                [
                    *("bad_idempotency_key", "bad_parameter", "unknown_preset", "malformed_body"),
                    *("upload_not_found", "upload_changed", "job_gone", "too_large", "unsupported_type"),
                    *("idempotency_key_reused", "upload_mismatch", "empty", "not_an_image"),
                    "too_many_open_jobs",
                ]
            ),
        },
    }


def _get_thumbnail(settings: IngestSettings) -> Part:
    minutes = settings.signed_url_seconds // 60
    return {
        "operationId": "getThumbnail",
        "summary": "Fetch a thumbnail",
        "description": f"Redirects to a signed URL that serves the picture for {minutes} minutes, to the"
        " method that asked.",
        "parameters": [
            _JOB_ID,
            {
                "name": "preset",
                "in": "path",
                "required": True,
                "schema": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,31}$"},
                "example": "thumbnail",
            },
            _IF_NONE_MATCH,
        ],
        "responses": {
            "302": answer("The picture is there.", ["Location", "ETag"]),
            "304": answer("The client has it.", ["ETag"]),
            **problem_answers(["job_not_found", "preset_not_found", "not_ready", "job_gone"]),
        },
    }


def _delete_image() -> Part:
    return {
        "operationId": "deleteImage",
        "summary": "Delete a job with its picture and thumbnails",
        "description": "Gone at once for readers, an open job included; the stored bytes follow.",
        "parameters": [_JOB_ID],
        "responses": {
            "204": answer("Deleted."),
            **problem_answers(["job_not_found", "job_gone"]),
        },
    }


def _post_upload(settings: IngestSettings) -> Part:
    return {
        "operationId": "beginUpload",
        "summary": "Begin the upload of a large picture",
        "description": "For pictures above the inline limit, up to"
        f" {settings.upload_limit_bytes:,} bytes. Send the form that is answered, then commit the upload by"
        " POST /images. What is not committed vanishes after a day.",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": ref("UploadAnnouncement")}},
        },
        "responses": {
            "201": answer("A form for exactly this picture.", schema="Upload", example=_upload_example()),
            **problem_answers(["malformed_body", "too_large", "unsupported_type"]),
        },
    }


def _get_jobs() -> Part:
    return {
        "operationId": "listJobs",
        "summary": "List your jobs, newest first",
        "description": "May lag behind the jobs' own states by a moment.",
        "parameters": [
            {
                "name": "status",
                "in": "query",
                "schema": {"type": "string", "enum": [status.value for status in Status]},
            },
            {"name": "limit", "in": "query", "schema": _number(100, 25)},
            {
                "name": "cursor",
                "in": "query",
                "description": "From the link `next`; opaque.",
                "schema": {"type": "string"},
            },
        ],
        "responses": {
            "200": answer("A page.", schema="JobList", example={"jobs": []}),
            **problem_answers(["bad_parameter", "cursor_not_found"]),
        },
    }


def _get_job() -> Part:
    example = {
        **_ACCEPTED,
        "created_at": "2026-11-30T09:00:00.000Z",
        "deadline_at": "2026-12-01T09:00:00.000Z",
        "byte_length": 23_549,
    }
    return {
        "operationId": "getJob",
        "summary": "Read a job's state",
        "description": "While it is open, ask again after Retry-After.",
        "parameters": [_JOB_ID, _IF_NONE_MATCH],
        "responses": {
            "200": answer("The job.", ["ETag", "Retry-After"], schema="Job", example=example),
            "304": answer("Nothing has changed.", ["ETag", "Retry-After"]),
            **problem_answers(["job_not_found", "job_gone"]),
        },
    }


def _get_openapi() -> Part:
    found = answer("This document.", ["ETag"], metered=False)
    found["content"] = {"application/json": {"schema": {"type": "object"}}}
    return {
        "operationId": "getDescription",
        "summary": "Read this description",
        "parameters": [_IF_NONE_MATCH],
        "responses": {
            "200": found,
            "304": answer("Nothing has changed.", ["ETag"], metered=False),
            **problem_answers([]),
        },
    }


def _get_problem() -> Part:
    found = answer("What the problem means and what to do.", ["ETag"], metered=False)
    found["content"] = {"text/html": {"schema": {"type": "string"}}}
    return {
        "operationId": "getProblemType",
        "summary": "Read what a problem type means",
        "parameters": [
            {
                "name": "code",
                "in": "path",
                "required": True,
                "schema": {"type": "string"},
                "example": "not_ready",
            },
            _IF_NONE_MATCH,
        ],
        "responses": {
            "200": found,
            "304": answer("Nothing has changed.", ["ETag"], metered=False),
            **problem_answers(["route_not_found"]),
        },
    }


def _idempotency_key(settings: IngestSettings) -> Part:
    hours = settings.idempotency_seconds // 3600
    return {
        "name": "Idempotency-Key",
        "in": "header",
        "required": True,
        "description": "A fresh UUID for each new picture, the same one for each retry, bare or as a quoted"
        f" string (draft-ietf-httpapi-idempotency-key-header). Scoped to the caller and kept for {hours}"
        " hours: until then the same request gives the same job, and another request under this key a 422.",
        "schema": {"type": "string", "pattern": f"^({BARE_KEY}|{QUOTED_KEY})$"},
        "example": "7c1f6e0a-2f6b-4c43-9a52-0c1b7b0f8f11",
    }


def _number(maximum: int, default: int) -> Part:
    return {"type": "integer", "minimum": 1, "maximum": maximum, "default": default}


def _upload_example() -> Part:
    return {
        "upload_id": UPLOAD_ID,
        "url": "https://bucket.s3.us-east-1.amazonaws.com/",
        "fields": {"key": "uploads/…", "policy": "…", "x-amz-signature": "…"},
        "expires_at": "2026-11-30T09:15:00.000Z",
    }
