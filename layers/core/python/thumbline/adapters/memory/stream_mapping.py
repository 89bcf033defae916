"""Lambda's mapping of the jobs table's stream in memory: ordered shards, retries, bisection, giving up.
https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from thumbline.adapters.memory.jobs import StreamRecord
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.domain.messages import OutgoingMessage
from thumbline.ports.clock import Clock

_FILTERED = ("QUEUED", "FAILED")


@dataclass(slots=True)
class MemoryStreamMapping:
    """One shard. The caller invokes the relay with `batch()` and reports what came of it."""

    clock: Clock
    failure_queue: MemoryQueue
    batch_size: int = 100
    retry_attempts: int = 20
    record_age_seconds: int = 3600
    pending: deque[tuple[int, StreamRecord]] = field(default_factory=deque)
    """With the time of each record's writing, epoch milliseconds."""
    _size: int = field(init=False)
    _retries: int = 0

    def __post_init__(self) -> None:
        self._size = self.batch_size

    def append(self, record: StreamRecord) -> None:
        """Only what passes the mapping's filter: new images that are QUEUED or FAILED."""
        if record.new is not None and record.new.get("status") in _FILTERED:
            self.pending.append((self.clock.now(), record))

    def batch(self) -> list[StreamRecord]:
        """The next records in order; what is too old is given up first."""
        oldest = self.clock.now() - self.record_age_seconds * 1000
        too_old: list[StreamRecord] = []
        while self.pending and self.pending[0][0] < oldest:
            too_old.append(self.pending.popleft()[1])
        self._give_up(too_old)
        return [record for _, record in list(self.pending)[: self._size]]

    def report(self, batch: Sequence[StreamRecord], failed: Sequence[str] | None) -> None:
        """`failed` are the sequence numbers of the partial batch response; None where the invocation died.

        Everything before the lowest failed one is done; that one and all behind it come again.
        """
        lowest = batch[0].sequence_number if failed is None else min(failed, default=None)
        done = [record for record in batch if lowest is None or record.sequence_number < lowest]
        while done and self.pending and self.pending[0][1].sequence_number <= done[-1].sequence_number:
            self.pending.popleft()
        if lowest is None:
            self._size, self._retries = self.batch_size, 0
            return
        if done:
            self._retries = 0
        self._retries += 1
        self._size = max(1, (len(batch) - len(done)) // 2)
        if self._retries > self.retry_attempts:
            given_up = [self.pending.popleft()[1] for _ in range(min(self._size, len(self.pending)))]
            self._size, self._retries = self.batch_size, 0
            self._give_up(given_up)

    def _give_up(self, records: Sequence[StreamRecord]) -> None:
        """Where in the stream it gave up, not what was there; Lambda delivers this without our code."""
        if not records:
            return
        info = {
            "streamArn": "memory",
            "shardId": "shard",
            "startSequenceNumber": records[0].sequence_number,
            "endSequenceNumber": records[-1].sequence_number,
        }
        self.failure_queue.put(OutgoingMessage(json.dumps({"DDBStreamBatchInfo": info})))
