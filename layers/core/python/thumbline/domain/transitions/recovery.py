"""What the reconciler does to heal a job. Each condition repeats what was seen: "still so"."""

from __future__ import annotations

from thumbline.domain.job import Job
from thumbline.domain.keys import Phase
from thumbline.domain.row import Add, Compare, Condition, Set
from thumbline.domain.transition import (
    Moment,
    Transition,
    by_deadline,
    check_at,
    has_dead_lease,
    is_failed,
    is_queued,
    is_running,
    not_deleted,
    open_without_live_lease,
    queued_again,
    transition,
)

MAX_REPUBLISH_SPACING_SECONDS = 3600


def republish_spacing_seconds(patience_seconds: int, republish_count: int) -> int:
    """How long until the next re-publish of the same job: doubling, at most an hour (or the patience)."""
    grown: int = patience_seconds * 2 ** min(republish_count, 16)
    return max(patience_seconds, min(grown, MAX_REPUBLISH_SPACING_SECONDS))


def republish(seen: Job, moment: Moment) -> Transition:
    """Takes the right to publish this QUEUED job once more; written first, so two passes do not both send."""
    spacing = republish_spacing_seconds(moment.timings.queued_patience_seconds, seen.republish_count + 1)
    return transition(
        "republish",
        moment,
        (
            is_queued(),
            not_deleted(),
            Compare("available_at", "=", seen.available_at),
            Compare("republish_count", "=", seen.republish_count),
        ),
        Add("republish_count", 1),
        *check_at(seen.job_id, Phase.QUEUED, by_deadline(moment.after(spacing), seen.deadline_at)),
    )


def rescue(seen: Job, moment: Moment) -> Transition:
    """A dead lease that the queue did not redeliver: QUEUED, claimable now."""
    return transition(
        "rescue",
        moment,
        (
            has_dead_lease(moment),
            not_deleted(),
            Compare("fencing_token", "=", seen.fencing_token),
            Compare("attempts", "<", moment.timings.attempt_cap),
        ),
        *queued_again(seen.job_id, moment, available_at=moment.now, deadline_at=seen.deadline_at),
    )


def requeue(seen: Job, moment: Moment) -> Transition:
    """The message was undelivered, not the job failed: a publish is owed again. A backoff is kept."""
    return transition(
        "requeue",
        moment,
        (
            open_without_live_lease(moment),
            not_deleted(),
            Compare("fencing_token", "=", seen.fencing_token),
            Compare("available_at", "=", seen.available_at),
            Compare("attempts", "<", moment.timings.attempt_cap),
        ),
        *queued_again(
            seen.job_id,
            moment,
            available_at=max(seen.available_at, moment.now),
            deadline_at=seen.deadline_at,
        ),
        Add("outbox_seq", 1),
    )


def owe_again(seen: Job, moment: Moment) -> Transition:
    """The relay gave up on this row's stream record: what it owed is owed once more.

    Valid for a QUEUED row and for a FAILED one whose annotated copy is owed; the caller tells which.
    """
    state: Condition = is_queued() if seen.is_open else is_failed()
    return transition(
        "owe_again",
        moment,
        (
            state,
            not_deleted(),
            Compare("generation", "=", seen.generation),
            Compare("outbox_seq", "=", seen.outbox_seq),
        ),
        Add("outbox_seq", 1),
    )


def postpone_check(seen: Job, until: int, moment: Moment) -> Transition:
    """Nothing to do yet. A QUEUED or RUNNING row that was read as such, looked at again later."""
    state: Condition = is_queued() if seen.lease_expires_at is None else is_running()
    return transition(
        "postpone_check",
        moment,
        (state, not_deleted(), Compare("next_check_at", "=", seen.next_check_at or 0)),
        Set("next_check_at", until),
    )
