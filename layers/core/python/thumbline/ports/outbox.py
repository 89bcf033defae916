"""Reading the jobs table's stream again, where the relay gave up on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from thumbline.domain.relay_failures import LostBatch


class OutboxReader(Protocol):
    def owed(self, lost: LostBatch) -> Mapping[str, int] | None:
        """The jobs whose changes lie in this stretch, each with the last `outbox_seq` that it had there.

        None where the stream cannot be read to the stretch's end, most likely since it has forgotten it.

        Raises DependencyUnavailableError.
        """
        ...
