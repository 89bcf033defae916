"""`redrive`: which jobs, a question, then row by row at a pace; the copies that this made useless go last."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from thumbline.domain.errors import DependencyUnavailableError, FailureCode
from thumbline.domain.job import Job
from thumbline.service.browse_dead_letters import remove_spent_copies
from thumbline.service.redrive_job import Redriven, Redriver, redrive_job
from thumbline.service.survey_jobs import FailedJobs, select_failed
from tools.operator.console import Console, moment, table
from tools.operator.errors import OperatorError
from tools.operator.stage import Stage

_COPIES_LOOKED_AT = 1_000
_UNCLEAR = "unclear"
"""The answer was lost: the row tells, by `jobs show`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Ids, or a rule. Ages in seconds since the failure."""

    job_ids: Sequence[str] = ()
    code: FailureCode | None = None
    older_than_seconds: int | None = None


def redrive(
    wanted: Wanted,
    stage: Stage,
    console: Console,
    *,
    dry_run: bool,
    per_second: float,
) -> None:
    """Raises OperatorError where a job was not redriven, and NotConfirmedError."""
    if wanted.job_ids:
        job_ids = list(dict.fromkeys(wanted.job_ids))
        chosen = [job for job_id in job_ids if (job := stage.reconciler.jobs.get(job_id)) is not None]
    else:
        chosen = _by_rule(wanted, stage)
        job_ids = [job.job_id for job in chosen]
    if dry_run or not job_ids:
        _show_chosen(chosen, stage, console)
        _complain_of_missing(job_ids, chosen, stage)
        return
    console.confirm(f"Redrive {_count(job_ids)} of {stage.label} as {stage.operator}")
    outcomes: dict[str, str] = {}
    try:
        _redrive_all(job_ids, stage, per_second, outcomes)
    finally:  # also of an interrupted run: what it did is told, and leaves no copy behind
        redriven = sum(outcome == Redriven.REDRIVEN for outcome in outcomes.values())
        removed = _remove_spent(job_ids, stage)
        _show_outcomes(outcomes, f"{redriven} of {_count(job_ids)} redriven", removed, stage, console)
    if removed is None:
        raise OperatorError("The dead-letter queue did not answer: spent copies stay. Run the same again.")
    if redriven < len(job_ids):
        raise OperatorError(f"{len(job_ids) - redriven} of {_count(job_ids)} not redriven: see the outcomes.")


def _by_rule(wanted: Wanted, stage: Stage) -> list[Job]:
    """An age alone means the operator's own work, the jobs whose attempts were exhausted."""
    failed_until = None
    if wanted.older_than_seconds is not None:
        failed_until = stage.reconciler.clock.now() - wanted.older_than_seconds * 1000
    rule = FailedJobs(code=wanted.code or FailureCode.ATTEMPTS_EXHAUSTED, failed_until=failed_until)
    found = select_failed(rule, stage.statuses, stage.reconciler.jobs)
    return sorted(found, key=lambda job: job.finished_at or 0)


def _redrive_all(job_ids: Sequence[str], stage: Stage, per_second: float, outcomes: dict[str, str]) -> None:
    """Fills in the outcomes, by job id."""
    reconciler = stage.reconciler
    redriver = Redriver(
        jobs=reconciler.jobs,
        dead_letters=stage.dead_letters,
        clock=reconciler.clock,
        ids=reconciler.ids,
        timings=reconciler.timings,
        operator=stage.operator,
    )
    for job_id in job_ids:
        if outcomes:
            time.sleep(1 / per_second)
        try:
            outcomes[job_id] = redrive_job(job_id, redriver).value
        except DependencyUnavailableError:
            outcomes[job_id] = _UNCLEAR


def _remove_spent(job_ids: Sequence[str], stage: Stage) -> int | None:
    """How many copies went, whatever became of their jobs; None where the queue did not answer."""
    try:
        return remove_spent_copies(set(job_ids), stage.dead_letters, stage.reconciler.jobs, _COPIES_LOOKED_AT)
    except DependencyUnavailableError:
        return None


def _show_outcomes(
    outcomes: dict[str, str], summary: str, removed: int | None, stage: Stage, console: Console
) -> None:
    console.show(
        table(("JOB", "OUTCOME"), list(outcomes.items()))
        + f"\n{summary}; {'no' if removed is None else removed} copies removed.",
        {
            "dry_run": False,
            "operator": stage.operator,
            "jobs": [{"job_id": job_id, "outcome": outcome} for job_id, outcome in outcomes.items()],
            "copies_removed": removed,
        },
    )


def _show_chosen(chosen: Sequence[Job], stage: Stage, console: Console) -> None:
    rows = [
        (job.job_id, job.status, job.failure and job.failure.code, job.generation, moment(job.finished_at))
        for job in chosen
    ]
    text = f"No job of {stage.label} is meant."
    if rows:
        text = table(("JOB", "STATUS", "CODE", "GENERATION", "FINISHED"), rows) + "\nNothing was changed."
    documents = [
        {
            "job_id": job.job_id,
            "status": job.status.value,
            "code": job.failure and job.failure.code.value,
            "generation": job.generation,
            "finished_at": moment(job.finished_at),
        }
        for job in chosen
    ]
    console.show(text, {"dry_run": True, "operator": stage.operator, "jobs": documents, "copies_removed": 0})


def _complain_of_missing(job_ids: Sequence[str], chosen: Sequence[Job], stage: Stage) -> None:
    if missing := sorted(set(job_ids) - {job.job_id for job in chosen}):
        raise OperatorError(f"{stage.label} has no job {', '.join(missing)}.")


def _count(job_ids: Sequence[str]) -> str:
    return "1 job" if len(job_ids) == 1 else f"{len(job_ids)} jobs"
