"""The end of a job: a client's delete or the end of retention, then objects, then the row.

A deleted row is a tombstone until its objects are surely gone: a worker that was claimed before the delete
may still put one, at the latest when its function times out.
"""

from __future__ import annotations

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure, Job, Status
from thumbline.domain.keys import Phase
from thumbline.domain.row import Add, Change, Compare, Present, Remove, Set, all_of
from thumbline.domain.transition import (
    TTL_BACKSTOP_SECONDS,
    Moment,
    Transition,
    check_at,
    is_open,
    is_terminal,
    not_deleted,
    transition,
)


def delete_open(job_id: str, moment: Moment) -> Transition:
    """A client's delete may take a live attempt away: the token moves on and the job fails as deleted."""
    failure = Failure(code=FailureCode.DELETED, detail="The client deleted the job", retryable=False)
    return transition(
        "delete_open",
        moment,
        (is_open(), not_deleted()),
        *_tombstone(job_id, moment),
        Set("status", Status.FAILED.value),
        Set("finished_at", moment.now),
        Set("failure", failure.to_record()),
        Remove("lease_expires_at"),
    )


def delete_terminal(job_id: str, moment: Moment) -> Transition:
    """The outcome stays as it was; only the tombstone is added."""
    return transition("delete_terminal", moment, (is_terminal(), not_deleted()), *_tombstone(job_id, moment))


def retire(seen: Job, moment: Moment) -> Transition:
    """The end of retention. A tombstone first, so that no redrive can race the objects' removal."""
    return transition(
        "retire",
        moment,
        (
            is_terminal(),
            not_deleted(),
            Compare("next_check_at", "=", seen.next_check_at or 0),
            Compare("next_check_at", "<=", moment.now),
        ),
        *_tombstone(seen.job_id, moment),
    )


def purge(seen: Job, moment: Moment) -> Transition:
    """Removes the row itself, so it has no changes. Only a tombstone whose second clean-up is due."""
    return Transition(
        name="purge",
        write_id=moment.write_id,
        condition=all_of(
            Present("deleted_at"),
            Compare("next_check_at", "=", seen.next_check_at or 0),
            Compare("next_check_at", "<=", moment.now),
        ),
        changes=(),
    )


def _tombstone(job_id: str, moment: Moment) -> tuple[Change, ...]:
    timings = moment.timings
    cleanup_at = moment.after(timings.function_timeout_seconds + timings.skew_seconds)
    return (
        Set("deleted_at", moment.now),
        Add("fencing_token", 1),
        *check_at(job_id, Phase.ENDED, cleanup_at),
        Set("expires_at", cleanup_at // 1000 + TTL_BACKSTOP_SECONDS),
    )
