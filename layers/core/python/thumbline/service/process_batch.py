"""Work through one batch of deliveries, one record at a time; one bad record never touches its siblings."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from thumbline.ports.clock import RemainingSeconds
from thumbline.ports.queue import ReceivedMessage, VisibilityChange
from thumbline.service.heartbeat import Heartbeat
from thumbline.service.process_delivery import process_delivery
from thumbline.service.worker import FINISHING_SECONDS, Outcome, Processed, Worker


@dataclass(frozen=True, slots=True)
class BatchReport:
    processed: tuple[Processed, ...]

    @property
    def unacknowledged(self) -> tuple[str, ...]:
        return tuple(line.message_id for line in self.processed if not line.outcome.acknowledged)

    @property
    def counts(self) -> Counter[Outcome]:
        return Counter(line.outcome for line in self.processed)


def process_batch(
    deliveries: Sequence[ReceivedMessage], worker: Worker, remaining_seconds: RemainingSeconds
) -> BatchReport:
    """The report names every record that was not acknowledged. Never raises for a record's sake."""
    processed: list[Processed] = []
    unstarted: list[ReceivedMessage] = []
    with Heartbeat(
        jobs=worker.beating_jobs,
        queue=worker.beating_queue,
        clock=worker.clock,
        ids=worker.ids,
        timings=worker.timings,
        remaining_seconds=remaining_seconds,
        new_pulse=worker.new_pulse,
    ) as heartbeat:
        heartbeat.hold([delivery.receipt_handle for delivery in deliveries])
        for delivery in deliveries:
            if remaining_seconds() < worker.limits.wall_seconds + FINISHING_SECONDS:
                processed.append(Processed(delivery.message_id, None, Outcome.UNSTARTED))
                heartbeat.leave(delivery.receipt_handle)
                unstarted.append(delivery)
                continue
            try:
                processed.append(process_delivery(delivery, worker, heartbeat, remaining_seconds))
            except Exception as error:  # a bug of ours, too, is one record's fault only
                heartbeat.end()
                trace = "".join(traceback.format_exception(error))
                processed.append(Processed(delivery.message_id, None, Outcome.BROKEN, trace))
        if unstarted and heartbeat.has_begun:
            _give_back(unstarted, worker)
    return BatchReport(tuple(processed))


def _give_back(unstarted: Sequence[ReceivedMessage], worker: Worker) -> None:
    """Another worker may begin them now. Not where this one could claim nothing: that would burn receives."""
    worker.work_queue.change_visibility(
        [VisibilityChange(delivery.receipt_handle, 0) for delivery in unstarted]
    )
