"""An operator gives a FAILED job another life; the only way out of a terminal state."""

from __future__ import annotations

from thumbline.domain.row import Add, Append, Compare, Remove, Set
from thumbline.domain.transition import (
    Moment,
    Transition,
    is_failed,
    not_deleted,
    queued_again,
    transition,
)


def redrive(job_id: str, generation: int, *, operator: str, moment: Moment) -> Transition:
    """Fresh attempts and deadline under a new generation, and who did it; the stream publishes.

    The old life's failure goes: it would be told as the new one's last error.

    `generation` is the dead-letter copy's, so one copy redrives once; without a copy it is the row's as read.
    """
    deadline_at = moment.after(moment.timings.deadline_seconds)
    entry = {"event": "redrive", "at": moment.now, "by": operator, "generation": generation + 1}
    return transition(
        "redrive",
        moment,
        (is_failed(), not_deleted(), Compare("generation", "=", generation)),
        *queued_again(job_id, moment, available_at=moment.now, deadline_at=deadline_at),
        Add("generation", 1),
        Set("attempts", 0),
        Add("outbox_seq", 1),
        Set("deadline_at", deadline_at),
        Remove("expires_at"),
        Remove("finished_at"),
        Remove("failure"),
        Append("trace", entry),
    )
