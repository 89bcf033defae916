"""What one search contains: which actors, and which of the things that can go wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Each fault may happen any number of times, at any moment: a search has no budget, only bounds."""

    name: str
    workers: int = 2
    passes: int = 1
    """Reconciler passes at once; 0 switches the reconciler off, and with it the liveness checks."""
    stepwise: bool = False
    """A pass reads, writes, sends and deletes in steps that others may come between."""
    crashes: bool = True
    unknown_outcomes: bool = False
    """A write of a worker succeeds unheard: it is tried again under the same id, or given up."""
    lost_records: bool = False
    """The relay gives up on a stream record."""
    repeated_records: bool = False
    """The relay publishes and dies before its checkpoint."""
    undelivered: bool = False
    """SQS moves a message to the undelivered queue."""
    kept_messages: bool = False
    """An acknowledged message comes again all the same."""
    deadline: bool = False
    dependency_down: bool = False
    operator: bool = False
    client: bool = False
    """A client's delete, with the objects that it removes."""
    retention: bool = False
    """The end of a terminal row's retention may come."""
    bad_messages: bool = False
    """A message that names the job and that nobody understands may come."""
    misread_messages: bool = False
    """A worker of an earlier version may not understand a good message."""
    max_visible: int = 2
    """Messages are alike: more of them than this are counted as this many."""
    generations: int = 2

    @property
    def may_reject(self) -> bool:
        """A job may fail for a message, however many attempts it has left."""
        return self.bad_messages or self.misread_messages


FAULTY_WORKERS = Configuration(
    name="faulty workers",
    unknown_outcomes=True,
    dependency_down=True,
    deadline=True,
    repeated_records=True,
    kept_messages=True,
)
LOST_MESSAGES = Configuration(name="lost messages", undelivered=True, lost_records=True)
DELETE = Configuration(name="delete", client=True, retention=True)
BAD_MESSAGES = Configuration(name="bad messages", bad_messages=True, deadline=True)
MISREAD_MESSAGES = Configuration(name="misread messages", misread_messages=True)
TWO_PASSES = Configuration(
    name="two passes", workers=1, passes=2, stepwise=True, undelivered=True, max_visible=1
)
UNRECONCILED_REDRIVE_AND_DELETE = Configuration(
    name="redrive and delete, unreconciled", passes=0, operator=True, client=True, max_visible=1
)

CI = (
    FAULTY_WORKERS,
    LOST_MESSAGES,
    DELETE,
    BAD_MESSAGES,
    MISREAD_MESSAGES,
    TWO_PASSES,
    UNRECONCILED_REDRIVE_AND_DELETE,
)
REDRIVE_AND_DELETE = Configuration(name="redrive and delete", operator=True, client=True, max_visible=1)
REDRIVE_AND_UNDELIVERED = Configuration(
    name="redrive and undelivered", operator=True, undelivered=True, max_visible=1
)
TWO_PASSES_AND_PEOPLE = Configuration(
    name="two passes, redrive and delete",
    workers=1,
    passes=2,
    stepwise=True,
    operator=True,
    client=True,
    retention=True,
    max_visible=1,
)
TWO_PASSES_AND_LOSSES = Configuration(
    name="two passes, lost messages and the deadline",
    workers=1,
    passes=2,
    stepwise=True,
    undelivered=True,
    lost_records=True,
    deadline=True,
)
ONE_WORKER_AND_EVERYTHING = Configuration(
    name="one worker and everything",
    workers=1,
    unknown_outcomes=True,
    lost_records=True,
    repeated_records=True,
    undelivered=True,
    deadline=True,
    operator=True,
    client=True,
    max_visible=1,
)

THOROUGH = (
    *CI,
    REDRIVE_AND_DELETE,
    REDRIVE_AND_UNDELIVERED,
    TWO_PASSES_AND_PEOPLE,
    TWO_PASSES_AND_LOSSES,
    ONE_WORKER_AND_EVERYTHING,
)
