"""An owner's jobs, from the index by owner and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thumbline.domain.listing import JobSummary


class OwnerIndex(Protocol):
    def newest(self, owner: str, *, before: str | None, limit: int) -> Sequence[JobSummary]:
        """Up to `limit` jobs of the owner, newest first, older than the job `before`; deleted ones as well.

        Fewer than `limit` means that there are no older ones. The index may lag behind the rows. Raises
        DependencyUnavailableError.
        """
        ...
