"""Every owner's jobs by status: what an operator looks through, never a client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from thumbline.domain.job import Status
from thumbline.domain.listing import JobSummary


class StatusIndex(Protocol):
    def with_status(self, status: Status) -> Iterator[JobSummary]:
        """Every job with this status, deleted ones as well, in no order, from an index that may lag behind.

        Reads the whole index of summaries. Raises DependencyUnavailableError.
        """
        ...
