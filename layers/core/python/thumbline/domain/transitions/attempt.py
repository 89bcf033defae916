"""What a worker does with one attempt: claim it, keep it alive, and end it.

    claim ──► extend_lease … ──► complete | fail | exhaust | release

After the claim each of these requires RUNNING and the claim's own fencing token, so a worker that lost its
lease can no longer write anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Failure, Job, Result, Status, dead_from
from thumbline.domain.keys import Phase
from thumbline.domain.row import Add, Change, Compare, Remove, Set, SetIfAbsent, any_of
from thumbline.domain.transition import (
    Moment,
    Transition,
    check_at,
    finished,
    has_dead_lease,
    is_queued,
    not_deleted,
    owned_by,
    queued_again,
    transition,
)


def claim(job_id: str, moment: Moment) -> Transition:
    """Starts an attempt. It counts from here, before any byte is decoded, so a killed attempt counts too.

    The deadline is part of the condition: past it the job is owed an answer, not more work.
    """
    timings = moment.timings
    lease_expires_at = moment.after(timings.lease_seconds)
    return transition(
        "claim",
        moment,
        (
            any_of(is_queued(), has_dead_lease(moment)),
            not_deleted(),
            Compare("attempts", "<", timings.attempt_cap),
            Compare("available_at", "<=", moment.after(timings.skew_seconds)),
            Compare("deadline_at", ">=", moment.now),
        ),
        Set("status", Status.RUNNING.value),
        Add("fencing_token", 1),
        Add("attempts", 1),
        Set("lease_expires_at", lease_expires_at),
        SetIfAbsent("started_at", moment.now),
        *check_at(job_id, Phase.RUNNING, dead_from(lease_expires_at, timings)),
    )


def extend_lease(token: int, moment: Moment) -> Transition:
    """A heartbeat. Only the owner extends; the due index is left alone."""
    return transition(
        "extend_lease",
        moment,
        owned_by(token),
        Set("lease_expires_at", moment.after(moment.timings.lease_seconds)),
    )


def complete(job_id: str, token: int, results: Mapping[str, Result], moment: Moment) -> Transition:
    return transition(
        "complete",
        moment,
        owned_by(token),
        *finished(job_id, moment, Status.SUCCEEDED),
        Set("results", {name: result.to_record() for name, result in results.items()}),
        Remove("failure"),
    )


def fail(job_id: str, token: int, failure: Failure, moment: Moment) -> Transition:
    """A permanent failure: the client's answer, on the first attempt, and nobody's work."""
    return transition(
        "fail",
        moment,
        owned_by(token),
        *finished(job_id, moment, Status.FAILED),
        Set("failure", failure.to_record()),
    )


def exhaust(job_id: str, token: int, failure: Failure, moment: Moment) -> Transition:
    """The last attempt failed transiently: the job fails and its annotated copy is owed."""
    return transition(
        "exhaust",
        moment,
        (*owned_by(token), Compare("attempts", ">=", moment.timings.attempt_cap)),
        *finished(job_id, moment, Status.FAILED),
        Set("failure", failure.to_record()),
        Add("outbox_seq", 1),
    )


def release(
    claimed: Job,
    failure: Failure,
    *,
    available_at: int,
    give_attempt_back: bool,
    moment: Moment,
) -> Transition:
    """Back to QUEUED after a transient failure. A dependency that is down gives the attempt back."""
    returned: tuple[Change, ...] = (Add("attempts", -1),) if give_attempt_back else ()
    return transition(
        "release",
        moment,
        owned_by(claimed.fencing_token),
        *queued_again(claimed.job_id, moment, available_at=available_at, deadline_at=claimed.deadline_at),
        Set("failure", failure.to_record()),
        *returned,
    )


def exhausted_failure(last: Failure | None, attempts: int) -> Failure:
    """What a client reads when the attempts ran out. `last` is the last error that an attempt recorded.

    It need not be the last attempt's own: one that is killed records none, and what was recorded stays.
    """
    error = (
        "no error was recorded" if last is None else f"the last recorded error: {last.code}: {last.detail}"
    )
    return Failure(
        code=FailureCode.ATTEMPTS_EXHAUSTED,
        detail=f"The picture was not finished in {attempts} attempts; {error}",
        retryable=True,
        cause=None if last is None else last.code,
    )
