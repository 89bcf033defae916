"""A world in which one actor can be struck at any boundary between two effects, and which then goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

from tests.world import World
from thumbline.adapters.memory.faults import Faults
from thumbline.adapters.memory.jobs import StreamRecord
from thumbline.adapters.memory.renderer import MemoryRenderer
from thumbline.adapters.memory.stream_mapping import MemoryStreamMapping
from thumbline.domain.presets import Preset
from thumbline.ports.renderer import Rendering
from thumbline.service.process_batch import BatchReport
from thumbline.service.reconcile.reconciler import Healed, ReconcileReport
from thumbline.service.relay_outbox import OutboxRecord, ReadImages, RelayReport, relay_outbox
from thumbline.service.worker import Outcome, Worker
from tools.chaos.universe import TIMINGS

_ROUND_SECONDS = 20
_LONGEST_SECONDS = 3 * 3600
_QUIET = frozenset({Healed.POSTPONED, Healed.OVERTAKEN, Healed.LEFT, Healed.DROPPED})


class HandPulse:
    """Beats when a test says so; stands in for the heartbeat's thread."""

    def __init__(self) -> None:
        self.lock = nullcontext()
        self.beat: Callable[[], None] = lambda: None

    def start(self, beat: Callable[[], None], every_seconds: float) -> None:
        assert every_seconds > 0
        self.beat = beat

    def stop(self) -> None:
        self.beat = lambda: None


class WatchedRenderer(MemoryRenderer):
    """Rendering is a boundary too, though it has no effect outside the process."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    def render(self, original: bytes, presets: Sequence[Preset], *, wall_seconds: float) -> Rendering:
        with self._faults.around("renderer", "render"):
            return super().render(original, presets, wall_seconds=wall_seconds)


class CrashWorld(World):
    """Relays through the stream mapping, so that a record outlives its relay; notes who healed what."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.timings = replace(TIMINGS, retention_days=0)
        self.renderer = WatchedRenderer(self.faults)
        self.mapping = MemoryStreamMapping(self.clock, self.relay_failures)
        self.pulse = HandPulse()
        self.healers: Counter[str] = Counter()
        self.has_reconciler = True
        self._seen = 0

    @property
    def worker(self) -> Worker:
        self.pulse = HandPulse()
        return replace(super().worker, new_pulse=lambda: self.pulse)

    def relay(self) -> RelayReport:
        for record in self.tables.stream[self._seen :]:
            self.mapping.append(record)
        self._seen = len(self.tables.stream)
        batch = self.mapping.batch()
        report = relay_outbox(
            [OutboxRecord(record.sequence_number, _images_of(record)) for record in batch],
            work_queue=self.work_queue,
            dead_letters=self.dead_letters,
            clock=self.clock,
        )
        if batch:
            self.mapping.report(batch, report.failed)
        return report

    def lose_stream(self) -> None:
        """The stream's records are gone, as if its mapping had never been."""
        self._seen = len(self.tables.stream)
        self.mapping.pending.clear()

    def settle(self) -> int:
        """Time passes and every service does its part until nothing is left to do; the seconds it took."""
        began = self.clock.now()
        while not self._is_at_rest():
            self._go_on()
            if self._is_at_rest():
                break
            self.clock.advance(_ROUND_SECONDS)
            assert self.clock.now() < began + _LONGEST_SECONDS * 1000, "never comes to rest"
        return (self.clock.now() - began) // 1000

    def let_others_go_on(self) -> None:
        """What everybody else does while one actor stands still for longer than a lease."""
        self.clock.advance(TIMINGS.lease_seconds + TIMINGS.skew_seconds + 5)
        self._go_on()

    def _go_on(self) -> None:
        self.relay()
        while deliveries := self.work_queue.receive(5):
            self._note_work(self.work_on(deliveries), deliveries[0].receive_count)
            self.relay()
        if self.has_reconciler:
            self._note_pass(self.reconcile())
        self.relay()

    def _is_at_rest(self) -> bool:
        jobs = list(self.tables.rows.values())
        ended = all(row["status"] in ("SUCCEEDED", "FAILED") and "deleted_at" not in row for row in jobs)
        relayed = self._seen == len(self.tables.stream) and not self.mapping.pending
        queues = (self.work_queue, self.undelivered, self.relay_failures)
        return ended and relayed and not any(queue.messages for queue in queues)

    def _note_work(self, report: BatchReport, receive_count: int) -> None:
        for line in report.processed:
            if line.outcome in (Outcome.BOUNCED, Outcome.UNREADABLE):
                self.healers["bounce"] += 1
            elif line.outcome is Outcome.SKIPPED:
                self.healers["duplicate skipped"] += 1
            elif line.outcome is Outcome.FENCED:
                self.healers["write fenced"] += 1
            elif receive_count > 1:
                self.healers["redelivery"] += 1

    def _note_pass(self, report: ReconcileReport) -> None:
        assert not report.errors
        for healed, count in report.counts.items():
            if healed not in _QUIET:
                self.healers[f"reconciler: {healed}"] += count


def _images_of(record: StreamRecord) -> ReadImages:
    return lambda: (record.old, record.new)
