"""What AWS does for the functions: polls, invokes, times out, acknowledges, and starts them on a schedule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from thumbline.adapters.memory.jobs import StreamRecord
from thumbline.adapters.memory.stream_mapping import MemoryStreamMapping
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Status
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.process_batch import BatchReport, process_batch
from thumbline.service.reconcile.allowance import FINISHING_SECONDS
from thumbline.service.reconcile.reconciler import Healed, ReconcileReport
from thumbline.service.reconcile.run_pass import run_pass
from thumbline.service.relay_outbox import OutboxRecord, ReadImages, RelayReport, relay_outbox
from thumbline.service.worker import Outcome
from tools.chaos.days import Day
from tools.chaos.scheduler import ProcessKilledError
from tools.chaos.universe import TIMINGS, Universe

_POLLERS = 4
_BATCH_SIZE = 5
_RELAY_SECONDS = 60
_RECONCILER_SECONDS = 55
_PASSES_SECONDS = (_RECONCILER_SECONDS, _RECONCILER_SECONDS, FINISHING_SECONDS + 10, FINISHING_SECONDS + 1)
"""In bad weather. The shorter ones leave the parts of a pass little more than the time to begin."""
_STREAM_REPEATED = 0.03
"""A batch that was processed comes again: its checkpoint was lost."""
_TWO_AT_ONCE = 0.2

_ALREADY_SUCCEEDED = f"already {Status.SUCCEEDED}"
"""What a worker notes of a delivery whose job was done."""

T = TypeVar("T")


def start_services(universe: Universe, jobs: int) -> None:
    """On a fair day no message waits: not for a poller, and not behind a slow one of its batch."""
    is_fair = universe.day is Day.FAIR
    for _ in range(_POLLERS + jobs // 20 if is_fair else _POLLERS):
        universe.scheduler.spawn(_Poller(universe, 1 if is_fair else _BATCH_SIZE).run)
    for mapping in universe.mappings:
        universe.scheduler.spawn(_Shard(universe, mapping).run)
    if universe.day is not Day.UNAIDED:
        start_reconciler(universe)


def start_reconciler(universe: Universe) -> None:
    universe.reconciled_from = universe.scheduler.now
    universe.scheduler.spawn(lambda: _schedule(universe))


def _invoke(universe: Universe, role: str, lives_seconds: float, action: Callable[[], T]) -> T | None:
    """None where the process was killed."""
    actor = universe.scheduler.current
    assert actor is not None
    actor.process = universe.weather.new_process(role, lives_seconds=lives_seconds)
    try:
        return action()
    except ProcessKilledError:
        return None
    finally:
        actor.process = None


class _Poller:
    """One of the work queue mapping's concurrent pollers, with the worker that it invokes."""

    def __init__(self, universe: Universe, batch_size: int) -> None:
        self._universe = universe
        self._batch_size = batch_size

    def run(self) -> None:
        universe = self._universe
        while True:
            try:
                deliveries = universe.work_queue.receive(self._batch_size)
            except DependencyUnavailableError:
                deliveries = []
            if not deliveries:
                universe.scheduler.sleep(universe.chance.uniform(1_000, 4_000))
                continue
            self._invoke(deliveries)

    def _invoke(self, deliveries: Sequence[ReceivedMessage]) -> None:
        report = _invoke(
            self._universe, "worker", TIMINGS.function_timeout_seconds, lambda: self._work(deliveries)
        )
        if report is not None:
            self._acknowledge(deliveries, report)

    def _work(self, deliveries: Sequence[ReceivedMessage]) -> BatchReport:
        return process_batch(deliveries, self._universe.worker(), self._universe.remaining_seconds)

    def _acknowledge(self, deliveries: Sequence[ReceivedMessage], report: BatchReport) -> None:
        ledger = self._universe.ledger
        for line in report.processed:
            ledger.counts[line.outcome] += 1
            if line.outcome is Outcome.BROKEN:
                ledger.violate("process_batch", f"an error of ours: {line.note.splitlines()[-1]}")
            if line.note == _ALREADY_SUCCEEDED:
                ledger.on_success_delivered(line.job_id or "")
        kept = set(report.unacknowledged)
        for delivery in deliveries:
            if delivery.message_id in kept:
                continue
            ledger.on_ack(delivery)
            try:
                self._universe.work_queue.delete(delivery.receipt_handle)
            except DependencyUnavailableError:
                ledger.counts["lost acks"] += 1


class _Shard:
    """The stream mapping of one shard, with the relay that it invokes."""

    def __init__(self, universe: Universe, mapping: MemoryStreamMapping) -> None:
        self._universe = universe
        self._mapping = mapping

    def run(self) -> None:
        universe = self._universe
        while True:
            universe.scheduler.sleep(universe.chance.uniform(200, 2_000))
            batch = self._mapping.batch()
            if batch:
                self._invoke(batch)

    def _invoke(self, batch: Sequence[StreamRecord]) -> None:
        universe = self._universe
        report = _invoke(universe, "relay", _RELAY_SECONDS, lambda: self._relay(batch))
        if not universe.weather.is_calm and universe.chance.random() < _STREAM_REPEATED:
            return
        self._mapping.report(batch, None if report is None else report.failed)
        if report is None or report.failed:
            universe.scheduler.sleep(universe.chance.uniform(1_000, 60_000))

    def _relay(self, batch: Sequence[StreamRecord]) -> RelayReport:
        return relay_outbox(
            [OutboxRecord(record.sequence_number, _images_of(record)) for record in batch],
            work_queue=self._universe.work_queue,
            dead_letters=self._universe.dead_letters,
            clock=self._universe.clock,
        )


def _images_of(record: StreamRecord) -> ReadImages:
    return lambda: (record.old, record.new)


def _schedule(universe: Universe) -> None:
    """A pass each minute, sometimes two at once."""

    def begin() -> None:
        reconcile(universe)

    while True:
        universe.scheduler.sleep(60_000)
        universe.scheduler.spawn(begin)
        if not universe.weather.is_calm and universe.chance.random() < _TWO_AT_ONCE:
            universe.scheduler.spawn(begin)


def reconcile(universe: Universe) -> bool:
    """One pass. Was it killed, or did it find anything to do, but for what waits for a person?"""

    def one_pass() -> ReconcileReport:
        return run_pass(universe.reconciler(), universe.remaining_seconds)

    began_in_calm = universe.weather.is_calm
    seconds = _RECONCILER_SECONDS if began_in_calm else universe.chance.choice(_PASSES_SECONDS)
    report = _invoke(universe, "reconciler", seconds, one_pass)
    if report is None:
        if began_in_calm:
            universe.ledger.violate("run_pass", f"a pass did not end within {seconds} s")
        return True
    for healed, count in report.counts.items():
        universe.ledger.counts[f"reconciler: {healed}"] += count
    if report.counts[Healed.BROKEN] or (universe.weather.is_calm and report.errors):
        universe.ledger.violate("run_pass", f"an error of ours: {report.errors[0]}")
    return report.counts.total() > report.counts[Healed.LEFT]
