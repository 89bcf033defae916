"""Reading the jobs table's stream again, where the relay gave up on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thumbline.domain.relay_failures import LostBatch


class OutboxReader(Protocol):
    def job_ids(self, lost: LostBatch) -> Sequence[str] | None:
        """The jobs whose changes lie in this stretch, each once.

        None where the stream cannot be read to the stretch's end, most likely since it has forgotten it.

        Raises DependencyUnavailableError.
        """
        ...
