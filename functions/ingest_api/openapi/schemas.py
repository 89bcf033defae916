"""The documents that are sent and answered, as JSON Schema 2020-12."""

from __future__ import annotations

from typing import Any

from functions.ingest_api.announcements import SHA256_PATTERN, TYPE_PATTERN
from thumbline.domain.job import Status
from thumbline.settings import IngestSettings

Schema = dict[str, Any]

JOB_ID = "img_01M8NVCDZ7DK96EPYXEE6AE2N1"
UPLOAD_ID = "upl_0f8fad5bd9cb469fa16570867728950e"
_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_MOMENT = {"type": "string", "format": "date-time", "description": "RFC 3339, in UTC."}
_STATUS = {"type": "string", "enum": [status.value for status in Status]}
JOB_ID_SCHEMA = {"type": "string", "pattern": "^img_[0-9A-HJKMNP-TV-Z]{26}$", "examples": [JOB_ID]}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def schemas(settings: IngestSettings) -> Schema:
    return {
        "Accepted": _object(
            {"job_id": JOB_ID_SCHEMA, "status": {"const": "QUEUED"}}, required=["job_id", "status"]
        ),
        "Job": _job(),
        "Original": _object(
            {
                "type": {
                    "type": "string",
                    "description": "The media type by content.",
                    "examples": ["image/jpeg"],
                },
                "width": _size("Pixels, upright."),
                "height": _size("Pixels, upright."),
            },
            required=["type", "width", "height"],
        ),
        "Thumbnail": _thumbnail(),
        "JobList": _object(
            {
                "jobs": {"type": "array", "items": ref("JobSummary")},
                "next": _link("The next page; absent on the last. A page may be short and yet not the last."),
            },
            required=["jobs"],
        ),
        "JobSummary": _object(
            {
                "job_id": JOB_ID_SCHEMA,
                "status": _STATUS,
                "created_at": _MOMENT,
                "finished_at": _MOMENT,
                "href": _link("The job."),
            },
            required=["job_id", "status", "created_at", "href"],
        ),
        "UploadAnnouncement": _announcement(settings.upload_limit_bytes),
        "Upload": _object(
            {
                "upload_id": {"type": "string", "examples": [UPLOAD_ID]},
                "url": {"type": "string", "format": "uri", "description": "Where the form goes, by POST."},
                "fields": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "All fields of the form, as multipart/form-data; then `file`, last.",
                },
                "expires_at": {**_MOMENT, "description": "Until then the form is taken. RFC 3339, in UTC."},
            },
            required=["upload_id", "url", "fields", "expires_at"],
        ),
        "UploadCommit": {
            **_object(
                {"upload_id": {"type": "string", "description": "As POST /uploads gave it."}},
                required=["upload_id"],
            ),
            "additionalProperties": False,
        },
        "Problem": _problem(),
    }


def _job() -> Schema:
    return _object(
        {
            "job_id": JOB_ID_SCHEMA,
            "status": {**_STATUS, "description": "SUCCEEDED and FAILED are final."},
            "created_at": _MOMENT,
            "deadline_at": {
                **_MOMENT,
                "description": "Past it an open job fails as `expired`. RFC 3339, UTC.",
            },
            "started_at": _MOMENT,
            "finished_at": _MOMENT,
            "byte_length": {"type": "integer", "minimum": 1},
            "result": _link("The default thumbnail; present once SUCCEEDED."),
            "results": {
                "type": "object",
                "additionalProperties": ref("Thumbnail"),
                "description": "Every thumbnail by its preset; present once SUCCEEDED.",
            },
            "original": ref("Original"),
            "dominant_colour": {"type": ["string", "null"], "examples": ["#7a5c3e"]},
            "placeholder": {"type": ["string", "null"], "description": "A ThumbHash in base 64."},
            "notes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "What was peculiar about the picture, in sentences.",
            },
            "problem": {**ref("Problem"), "description": "Why the job failed; present once FAILED."},
        },
        required=["job_id", "status", "created_at", "deadline_at", "byte_length"],
    )


def _thumbnail() -> Schema:
    return _object(
        {
            "href": _link("The picture."),
            "width": _size("Pixels."),
            "height": _size("Pixels."),
            "bytes": _size("Its size."),
            "type": {"type": "string", "examples": ["image/jpeg"]},
            "sha256": {"type": "string", "pattern": SHA256_PATTERN},
        },
        required=["href", "width", "height", "bytes", "type", "sha256"],
    )


def _announcement(limit_bytes: int) -> Schema:
    announcement = _object(
        {
            "byte_length": {"type": "integer", "minimum": 1, "maximum": limit_bytes},
            "sha256": {"type": "string", "pattern": SHA256_PATTERN, "description": "Of the picture, in hex."},
            "content_type": {
                "type": "string",
                "pattern": TYPE_PATTERN,
                "default": "application/octet-stream",
                "description": "What to declare the picture as; its kind is told from its content.",
            },
        },
        required=["byte_length", "sha256"],
    )
    example = {"byte_length": 20_971_520, "sha256": _SHA256, "content_type": "image/jpeg"}
    return {**announcement, "additionalProperties": False, "examples": [example]}


def _problem() -> Schema:
    return _object(
        {
            "type": {"type": "string", "format": "uri-reference", "description": "The problem type's page."},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"type": "string", "description": "Stable; decide by this."},
            "detail": {"type": "string", "description": "What happened and what to do, in a sentence."},
            "retryable": {"type": "boolean", "description": "Whether submitting the picture again may help."},
            "parameter": {"type": "string", "description": "The query parameter at fault."},
            "limit_bytes": {"type": "integer"},
            "uploads": _link("Where larger pictures go."),
            "job": _link("The job's state."),
            "request_id": {"type": "string", "description": "The gateway's name for the request."},
        },
        required=["type", "title", "code", "detail"],
    )


def _object(properties: Schema, *, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required}


def _link(description: str) -> Schema:
    return {
        "type": "string",
        "format": "uri-reference",
        "description": f"{description} Root-relative; resolve it against the URL that was called.",
    }


def _size(description: str) -> Schema:
    return {"type": "integer", "minimum": 1, "description": description}
