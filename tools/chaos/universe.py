"""One seed's world: the twins with their faults, the use cases' collaborators, and the watching ledger."""

from __future__ import annotations

import random
from collections.abc import Callable
from zlib import crc32

from thumbline.adapters.memory.clock import SeededIds
from thumbline.adapters.memory.due_index import MemoryDueIndex
from thumbline.adapters.memory.jobs import MemoryTables, StreamRecord
from thumbline.adapters.memory.objects import MemoryObjects
from thumbline.adapters.memory.outbox import MemoryOutbox
from thumbline.adapters.memory.queue import MemoryQueue, QueueHabits
from thumbline.adapters.memory.stream_mapping import MemoryStreamMapping
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.presets import RenderLimits
from thumbline.domain.schema import JOBS_KEY
from thumbline.domain.timings import Timings
from thumbline.domain.transition import Transition
from thumbline.service.accept_image import Acceptance, AcceptancePolicy
from thumbline.service.delete_job import Deletion
from thumbline.service.reconcile.reconciler import Reconciler
from thumbline.service.redrive_job import Redriver
from thumbline.service.worker import Worker
from tools.chaos.days import Day, day_of
from tools.chaos.debts import Debts
from tools.chaos.ledger import Ledger
from tools.chaos.pictures import ChaosRenderer
from tools.chaos.scheduler import Scheduler
from tools.chaos.threads import VirtualPulse
from tools.chaos.weather import Weather, spells_of

EPOCH_MS = 1_700_000_000_000
FAULTY_MS = 20 * 60_000
"""How long the faults last; clients submit in the first half."""
STREAM_SHARDS = 2
TIMINGS = Timings(
    lease_seconds=30,
    skew_seconds=5,
    heartbeat_seconds=10,
    attempt_cap=5,
    function_timeout_seconds=120,
    deadline_seconds=86_400,
    retention_days=365,
    queued_patience_seconds=300,
    rescue_patience_seconds=60,
    backoff_base_seconds=2,
    backoff_ceiling_seconds=300,
)
"""The deployed stages' numbers."""
LIMITS = RenderLimits(
    max_pixels=120_000_000,
    max_frames=1_000,
    max_scan_megapixels=2_000,
    cpu_seconds=10,
    memory_bytes=1_000_000_000,
    wall_seconds=30,
)
VISIBILITY_SECONDS = 720


class ServerClock:
    """The services' own clock."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def now(self) -> int:
        return self._scheduler.now


class ProcessClock:
    """What the running process believes."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def now(self) -> int:
        process = self._scheduler.process
        return self._scheduler.now + (0 if process is None else process.clock_offset_ms)


class RetryingTables(MemoryTables):
    """Tries a failed transition once more with the same write id, as the SDK does."""

    def apply(self, job_id: str, transition: Transition) -> Job:
        try:
            return super().apply(job_id, transition)
        except DependencyUnavailableError:
            return super().apply(job_id, transition)


class Universe:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.scheduler = Scheduler(EPOCH_MS)
        self.day = day_of(seed)
        self.calm_at = EPOCH_MS if self.day is Day.FAIR else EPOCH_MS + FAULTY_MS
        self.reconciled_from: int | None = None
        """When the reconciler's schedule began."""
        self.weather = Weather(
            self.scheduler,
            self.chance,
            self.calm_at,
            spells_of(self.chance, EPOCH_MS, self.calm_at),
            frozen=self.chance.choice([0.001, 0.001, 0.005]),
        )
        self.server_clock = ServerClock(self.scheduler)
        self.clock = ProcessClock(self.scheduler)
        self.ids = SeededIds(seed)
        self.visitors = 0
        """Clients, an operator and strangers who are not done: the world is not at rest before they are."""
        self.ledger = Ledger(self.scheduler, TIMINGS, self.day)
        index = MemoryDueIndex(self.server_clock.now, lambda: self.chance.randint(0, 3_000))
        self.tables = RetryingTables(self.weather, index=index, on_change=self._on_row)
        self.objects = MemoryObjects(self.weather, on_change=self.ledger.on_object)
        self.undelivered = self._queue("undelivered")
        self.dead_letters = self._queue("dead_letters")
        self.relay_failures = self._queue("relay_failures")
        self.work_queue = self._queue(
            "work_queue",
            visibility_seconds=VISIBILITY_SECONDS,
            max_receive_count=20 if self.day is Day.FAIR else self.chance.choice([4, 8, 20, 20]),
            redrive_target=self.undelivered,
        )
        self.outbox = MemoryOutbox(self.tables)
        self.mappings = [
            MemoryStreamMapping(
                self.server_clock, self.relay_failures, retry_attempts=self.chance.choice([1, 4, 20])
            )
            for _ in range(STREAM_SHARDS)
        ]
        self.debts = Debts(
            tables=self.tables,
            work_queue=self.work_queue,
            undelivered=self.undelivered,
            dead_letters=self.dead_letters,
            relay_failures=self.relay_failures,
            mappings=self.mappings,
        )
        self.ledger.watch(self.tables, self.objects, self.debts)

    @property
    def is_busy(self) -> bool:
        """Clients, operators and, unless the day is fair, faults still have their time."""
        return self.scheduler.now < EPOCH_MS + FAULTY_MS

    @property
    def steady_since(self) -> int | None:
        """From then on nothing bad happens and the reconciler runs; None while it does not."""
        return None if self.reconciled_from is None else max(self.calm_at, self.reconciled_from)

    def remaining_seconds(self) -> float:
        """How long the running process may still run."""
        process = self.scheduler.process
        assert process is not None
        assert process.ends_at is not None
        return (process.ends_at - self.scheduler.now) / 1000

    def spawn_visitor(self, action: Callable[[], None], after_ms: int = 0) -> None:
        def run() -> None:
            action()
            self.visitors -= 1

        self.visitors += 1
        self.scheduler.spawn(run, after_ms=after_ms)

    def calm_down(self) -> None:
        """The queues behave from now on; the weather does so by itself."""
        for queue in (self.work_queue, self.undelivered, self.dead_letters, self.relay_failures):
            queue.habits = QueueHabits()

    def acceptance(self) -> Acceptance:
        return Acceptance(
            jobs=self.tables,
            store=self.tables,
            objects=self.objects,
            clock=self.clock,
            ids=self.ids,
            policy=AcceptancePolicy(
                deadline_seconds=TIMINGS.deadline_seconds,
                queued_patience_seconds=TIMINGS.queued_patience_seconds,
                idempotency_seconds=86_400,
            ),
        )

    def worker(self) -> Worker:
        return Worker(
            jobs=self.tables,
            beating_jobs=self.tables,
            objects=self.objects,
            renderer=ChaosRenderer(self.scheduler, self.weather, self.chance, self._release()),
            work_queue=self.work_queue,
            beating_queue=self.work_queue,
            dead_letters=self.dead_letters,
            clock=self.clock,
            ids=self.ids,
            jitter=self.chance.random,
            timings=TIMINGS,
            limits=LIMITS,
            new_pulse=lambda: VirtualPulse(self.scheduler),
        )

    def reconciler(self) -> Reconciler:
        return Reconciler(
            jobs=self.tables,
            snapshots=self.tables,
            objects=self.objects,
            outbox=self.outbox,
            work_queue=self.work_queue,
            undelivered_queue=self.undelivered,
            relay_failure_queue=self.relay_failures,
            clock=self.clock,
            ids=self.ids,
            timings=TIMINGS,
            max_jobs_per_run=500,
        )

    def redriver(self) -> Redriver:
        return Redriver(
            jobs=self.tables,
            dead_letters=self.dead_letters,
            clock=self.clock,
            ids=self.ids,
            timings=TIMINGS,
            operator="operator",
        )

    def deletion(self) -> Deletion:
        return Deletion(
            jobs=self.tables, objects=self.objects, clock=self.clock, ids=self.ids, timings=TIMINGS
        )

    def _release(self) -> str:
        """A release is rolled out all the time that pictures come: old and new workers run side by side."""
        return "old" if self.is_busy and self.chance.random() < 0.5 else "new"

    def _queue(
        self,
        name: str,
        *,
        visibility_seconds: int = 30,
        max_receive_count: int | None = None,
        redrive_target: MemoryQueue | None = None,
    ) -> MemoryQueue:
        habits = QueueHabits() if self.day is Day.FAIR else self._bad_habits()
        return MemoryQueue(
            self.server_clock,
            name,
            visibility_seconds=visibility_seconds,
            max_receive_count=max_receive_count,
            redrive_target=redrive_target,
            faults=self.weather,
            habits=habits,
        )

    def _bad_habits(self) -> QueueHabits:
        return QueueHabits(
            self.chance,
            delivered_twice=0.03,
            survives_delete=0.02,
            out_of_order=0.2,
            entry_refused=0.03,
            stale_delete_works=self.chance.choice([0.0, 0.5, 1.0]),
        )

    def _on_row(self, record: StreamRecord) -> None:
        self.ledger.on_row(record)
        image = record.new or record.old or {}
        self.mappings[crc32(image[JOBS_KEY].encode()) % STREAM_SHARDS].append(record)
