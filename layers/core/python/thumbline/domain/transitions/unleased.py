"""What anyone may do with an open job that has no live lease, a receiver or the reconciler alike.

None of these takes a live attempt away.
"""

from __future__ import annotations

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure, Status
from thumbline.domain.row import Add, Compare, Set
from thumbline.domain.transition import (
    Moment,
    Transition,
    finished,
    not_deleted,
    open_without_live_lease,
    transition,
)


def exhaust_abandoned(job_id: str, failure: Failure, moment: Moment) -> Transition:
    """All attempts are spent and the last one died: the job fails and its annotated copy is owed."""
    return transition(
        "exhaust_abandoned",
        moment,
        (
            open_without_live_lease(moment),
            not_deleted(),
            Compare("attempts", ">=", moment.timings.attempt_cap),
        ),
        *finished(job_id, moment, Status.FAILED),
        Set("failure", failure.to_record()),
        Add("outbox_seq", 1),
    )


def expire(job_id: str, moment: Moment) -> Transition:
    failure = Failure(
        code=FailureCode.EXPIRED,
        detail="The job was not finished before its deadline; submit the picture again",
        retryable=True,
    )
    return transition(
        "expire",
        moment,
        (
            open_without_live_lease(moment),
            not_deleted(),
            Compare("deadline_at", "<", moment.now),
        ),
        *finished(job_id, moment, Status.FAILED),
        Set("failure", failure.to_record()),
    )


def reject_message(job_id: str, reason: str, moment: Moment) -> Transition:
    """The job's message cannot be understood; a copy with the reason is in the dead-letter queue already."""
    failure = Failure(code=FailureCode.BAD_MESSAGE, detail=reason, retryable=True)
    return transition(
        "reject_message",
        moment,
        (open_without_live_lease(moment), not_deleted()),
        *finished(job_id, moment, Status.FAILED),
        Set("failure", failure.to_record()),
    )
