"""The stream of the in-memory tables, read again. Shards and ARNs have no meaning here."""

from __future__ import annotations

from collections.abc import Mapping

from thumbline.adapters.memory.jobs import MemoryTables
from thumbline.domain.relay_failures import LostBatch
from thumbline.domain.schema import JOBS_KEY


class MemoryOutbox:
    """`forgotten_before` is the first sequence number that the stream still holds."""

    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables
        self.forgotten_before = ""

    def owed(self, lost: LostBatch) -> Mapping[str, int] | None:
        if lost.first_sequence_number < self.forgotten_before:
            return None
        first, last = int(lost.first_sequence_number), int(lost.last_sequence_number)
        found: dict[str, int] = {}
        for record in self._tables.stream:
            number = int(record.sequence_number)
            if first <= number <= last and record.new is not None:
                found[record.new[JOBS_KEY]] = record.new["outbox_seq"]
            if number >= last:
                return found
        return None
