"""`jobs why`: one plain sentence for each reason."""

from __future__ import annotations

from thumbline.domain.job import Job
from thumbline.domain.timings import Timings
from thumbline.ports.queue import Depth
from thumbline.service.explain_job import Explanation, Reason
from tools.operator.console import duration, moment


def sentence(job: Job, explained: Explanation, now: int, timings: Timings) -> str:
    soon = _in(explained.until, now)
    match explained.reason:
        case Reason.DELETED:
            return (
                f"It waits for nothing: it was deleted at {moment(job.deleted_at)}, and its row goes {soon}."
            )
        case Reason.SUCCEEDED:
            return f"It waits for nothing: it succeeded at {moment(job.finished_at)}."
        case Reason.FAILED:
            return f"It waits for nothing: it failed at {moment(job.finished_at)}{_failure(job)}."
        case Reason.WORKING:
            return (
                f"A worker holds it (attempt {job.attempts} of {timings.attempt_cap}) under a lease that ends"
                f" {soon} unless the worker extends it."
            )
        case Reason.WORKER_LOST:
            return (
                f"Its worker is gone: the lease ended at {moment(job.lease_expires_at)}; the queue delivers"
                f" its message again, or the reconciler rescues the job {soon}."
            )
        case Reason.ATTEMPTS_SPENT:
            return (
                f"Its {job.attempts} attempts are spent: the next delivery fails it as exhausted, or the"
                f" reconciler does {soon}."
            )
        case Reason.PAST_DEADLINE:
            return (
                f"Its deadline was {moment(job.deadline_at)}: the next delivery fails it as expired, or the"
                f" reconciler does {soon}."
            )
        case Reason.BACKOFF:
            return f"It backs off after attempt {job.attempts}: the next try is due {soon}{_failure(job)}."
        case _:
            return _in_queue(explained, job, soon, now)


def _in_queue(explained: Explanation, job: Job, soon: str, now: int) -> str:
    depth = explained.depth or Depth(0, 0, 0)
    waited = duration(now - job.available_at)
    match explained.reason:
        case Reason.NOBODY_WORKS:
            return (
                f"{depth.visible} messages wait, and the reconciler's last pass found no job that runs from"
                " its first message: look at the thumbnail worker's errors and throttles; the job itself has"
                f" been claimable for {waited}."
            )
        case Reason.IN_FLIGHT:
            return (
                f"No message is visible and {depth.in_flight + depth.delayed} are hidden: its own is one of"
                f" them, until its timer ends, or is lost, and then the reconciler publishes it again {soon}."
            )
        case Reason.BACKLOG:
            return (
                f"It has been in the backlog of {depth.visible} messages for {waited}; if its own is lost,"
                f" the reconciler publishes it again {soon}."
            )
        case Reason.MESSAGE_LOST:
            return (
                f"It has been claimable for {waited}, longer than the backlog of {depth.visible} messages"
                f" explains: its message is probably lost, and the reconciler publishes it again {soon}."
            )
        case _:
            return (
                f"It has been claimable for {waited} and has no message in the work queue: the relay is late,"
                f" or the message is lost, and then the reconciler publishes it again {soon}."
            )


def _in(until: int | None, now: int) -> str:
    if until is None:
        return "at a time that is not set"
    if until <= now:
        return "within a minute"
    return f"in {duration(until - now)}, at {moment(until)}"


def _failure(job: Job) -> str:
    if job.failure is None:
        return ""
    return f" ({job.failure.code}: {job.failure.detail.rstrip('.')})"
