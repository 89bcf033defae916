"""`make openapi`: writes the API's description and the page of its problems, as the handler has them."""

from __future__ import annotations

from pathlib import Path

from functions.ingest_api.openapi.document import openapi_text
from functions.ingest_api.problem_types import PROBLEM_SECTIONS
from infra.settings import stage_settings
from infra.topology import topology_of
from thumbline.settings import IngestSettings

_DOCS = Path(__file__).resolve().parents[1] / "docs"
DESCRIPTION = _DOCS / "openapi.json"
PROBLEMS = _DOCS / "problems.md"


def deployed_settings(stage: str) -> IngestSettings:
    """What the stage gives ingest_api, names aside."""
    settings = stage_settings(stage)
    topology = topology_of(settings)
    return IngestSettings(
        jobs_table="jobs",
        idempotency_table="idempotency",
        access_table="access",
        bucket="bucket",
        owner_source=settings.identity,
        presets=settings.presets,
        inline_limit_bytes=settings.inline_limit_bytes,
        upload_limit_bytes=settings.upload_limit_bytes,
        requests_per_second=settings.owner_requests_per_second,
        max_open_jobs=settings.owner_open_jobs,
        timings=topology.timings,
        idempotency_seconds=topology.idempotency_seconds,
        retry_after_seconds=topology.retry_after_seconds,
        signed_url_seconds=topology.signed_url_seconds,
        stage=stage,
    )


def problems_markdown() -> str:
    lines = [
        "# Problems",
        "",
        "Every error is an RFC 9457 problem document. Its `code` is stable and decides; its `detail` is a",
        "sentence for a person; its `type` is a path at which the service serves what stands here.",
    ]
    for title, section in PROBLEM_SECTIONS.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| code | status | what it means | what to do |",
            "|---|---|---|---|",
        ]
        lines += [f"| `{code}` | {it.status} | {it.meaning} | {it.remedy} |" for code, it in section.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    DESCRIPTION.write_text(openapi_text(deployed_settings("dev")))
    PROBLEMS.write_text(problems_markdown())


if __name__ == "__main__":
    main()
