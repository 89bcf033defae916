"""The jobs and idempotency tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Job
from thumbline.domain.transition import Transition


class JobReader(Protocol):
    def get(self, job_id: str) -> Job | None:
        """A consistent read. Raises DependencyUnavailableError."""
        ...


class JobStore(JobReader, Protocol):
    def apply(self, job_id: str, transition: Transition) -> Job:
        """One conditional update; the row after it.

        A row that already shows the transition's write id is its own earlier success: returned as it is.
        Raises TransitionRefusedError with the row as it was, and DependencyUnavailableError where the outcome
        is unknown.
        """
        ...

    def purge(self, job_id: str, transition: Transition) -> bool:
        """Deletes the row where the transition's condition holds; False where it does not, or no row is left.

        Raises DependencyUnavailableError.
        """
        ...

    def due(self, shard: str, now: int, limit: int) -> Sequence[str]:
        """Ids of jobs whose check is due, the longest due first; from an index that may lag behind.

        Raises DependencyUnavailableError.
        """
        ...


class DueIndex(Protocol):
    """The part of the index that lies ahead."""

    def upcoming(self, shard: str, now: int, until: int, limit: int) -> Sequence[str]:
        """Ids of jobs whose check lies after `now` and not after `until`, the nearest first.

        Every running job is among them, since its check is set to the end of its lease. Raises
        DependencyUnavailableError.
        """
        ...


class ReconcilerJobs(JobStore, DueIndex, Protocol):
    """The reconciler's view of the jobs table."""


class AcceptanceStore(Protocol):
    def find_record(self, record_id: str) -> IdempotencyRecord | None:
        """A consistent read; the record may have expired. Raises DependencyUnavailableError."""
        ...

    def accept(self, job: Job, record: IdempotencyRecord) -> IdempotencyRecord | None:
        """Writes the job and its idempotency record in one transaction.

        None when they are stored, now or by an earlier try of the same job; the live record of another job
        that holds the key otherwise. An expired record is replaced. Raises DependencyUnavailableError.
        """
        ...
