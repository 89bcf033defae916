"""`reconcile --dry-run`."""

from __future__ import annotations

from thumbline.service.reconcile.preview_pass import Preview, preview_pass
from tools.operator.console import Console, duration, listing, table
from tools.operator.stage import Stage

_BROKEN = "broken"
"""This version cannot read the row; a pass counts it and goes on."""


def preview(stage: Stage, console: Console) -> None:
    seen = preview_pass(stage.reconciler, undelivered=stage.undelivered, relay_failures=stage.relay_failures)
    rows = [(job_id, treatment.name.lower()) for job_id, treatment in seen.treatments.items()]
    rows += [(job_id, _BROKEN) for job_id in seen.broken]
    parts = [listing(_facts(seen)), table(("JOB", "WOULD"), rows) if rows else "No check is due."]
    console.show(
        "\n\n".join(parts),
        {
            "backlog": seen.backlog,
            "expected_wait_ms": seen.expected_wait_ms,
            "undelivered": seen.undelivered,
            "relay_failures": seen.relay_failures,
            "jobs": [{"job_id": job_id, "treatment": treatment} for job_id, treatment in rows],
        },
    )


def _facts(seen: Preview) -> dict[str, object]:
    wait = "unknown: no job runs from its first message"
    if seen.expected_wait_ms is not None:
        wait = duration(seen.expected_wait_ms)
    return {
        "backlog": seen.backlog,
        "expected wait": wait,
        "undelivered": seen.undelivered,
        "relay failures": seen.relay_failures,
    }
