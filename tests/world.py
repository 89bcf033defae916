"""A whole Thumbline on the in-memory twins, small enough to be turned by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thumbline.adapters.memory.clock import ManualClock, SeededIds
from thumbline.adapters.memory.faults import Faults
from thumbline.adapters.memory.jobs import MemoryTables, StreamRecord
from thumbline.adapters.memory.objects import MemoryObjects
from thumbline.adapters.memory.outbox import MemoryOutbox
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.adapters.memory.renderer import MemoryRenderer
from thumbline.domain.job import Job, Original, accepted_job
from thumbline.domain.messages import ImageProcessingRequested, OutgoingMessage
from thumbline.domain.presets import DEFAULT_PRESET, Preset
from thumbline.domain.signatures import recognise
from thumbline.domain.timings import Timings
from thumbline.domain.transition import Moment
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.accept_image import (
    Acceptance,
    AcceptancePolicy,
    Accepted,
    Submission,
    accept_image,
)
from thumbline.service.delete_job import Deletion
from thumbline.service.process_batch import BatchReport, process_batch
from thumbline.service.reconcile.reconciler import Reconciler, ReconcileReport
from thumbline.service.reconcile.run_pass import run_pass
from thumbline.service.redrive_job import Redriver
from thumbline.service.relay_outbox import OutboxRecord, ReadImages, RelayReport, relay_outbox
from thumbline.service.worker import Outcome, Worker
from tools.chaos.universe import LIMITS, TIMINGS, VISIBILITY_SECONDS

SMALL = Preset(name="small", width=64, height=64, fit="cover", format="webp", quality=70)


def images_of(record: StreamRecord) -> ReadImages:
    return lambda: (record.old, record.new)


@dataclass
class World:
    """Everything on one clock. `remaining_seconds` is what every worker invocation is told."""

    clock: ManualClock = field(default_factory=ManualClock)
    ids: SeededIds = field(default_factory=SeededIds)
    faults: Faults = field(default_factory=Faults)
    renderer: MemoryRenderer = field(default_factory=MemoryRenderer)
    timings: Timings = TIMINGS
    jitter: float = 0.5
    remaining_seconds: Callable[[], float] = lambda: 120.0

    def __post_init__(self) -> None:
        self.tables = MemoryTables(self.faults)
        self.objects = MemoryObjects(self.faults)
        self.undelivered = MemoryQueue(self.clock, "undelivered", faults=self.faults)
        self.dead_letters = MemoryQueue(self.clock, "dead_letters", faults=self.faults)
        self.work_queue = MemoryQueue(
            self.clock,
            "work_queue",
            visibility_seconds=VISIBILITY_SECONDS,
            max_receive_count=20,
            redrive_target=self.undelivered,
            faults=self.faults,
        )
        self.relay_failures = MemoryQueue(self.clock, "relay_failures", faults=self.faults)
        self.outbox = MemoryOutbox(self.tables)
        self._relayed = 0

    @property
    def acceptance(self) -> Acceptance:
        return Acceptance(
            jobs=self.tables,
            store=self.tables,
            objects=self.objects,
            clock=self.clock,
            ids=self.ids,
            policy=AcceptancePolicy(
                deadline_seconds=self.timings.deadline_seconds,
                queued_patience_seconds=self.timings.queued_patience_seconds,
                idempotency_seconds=86_400,
            ),
            # The twins' pictures are any bytes.
            screen=lambda body: body or recognise(body),
        )

    @property
    def worker(self) -> Worker:
        return Worker(
            jobs=self.tables,
            beating_jobs=self.tables,
            objects=self.objects,
            renderer=self.renderer,
            work_queue=self.work_queue,
            beating_queue=self.work_queue,
            dead_letters=self.dead_letters,
            clock=self.clock,
            ids=self.ids,
            jitter=lambda: self.jitter,
            timings=self.timings,
            limits=LIMITS,
        )

    @property
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
            timings=self.timings,
            max_jobs_per_run=400,
        )

    def redriver(self, operator: str = "ops") -> Redriver:
        return Redriver(
            jobs=self.tables,
            dead_letters=self.dead_letters,
            clock=self.clock,
            ids=self.ids,
            timings=self.timings,
            operator=operator,
        )

    @property
    def deletion(self) -> Deletion:
        return Deletion(
            jobs=self.tables, objects=self.objects, clock=self.clock, ids=self.ids, timings=self.timings
        )

    def moment(self) -> Moment:
        return Moment(self.clock.now(), self.ids.write_id(), self.timings)

    def submit(
        self,
        body: bytes = b"a picture",
        key: str = "key-1",
        *,
        owner: str = "alice",
        content_type: str = "image/jpeg",
        presets: tuple[Preset, ...] = (DEFAULT_PRESET,),
    ) -> Accepted:
        submission = Submission(
            owner=owner, idempotency_key=key, content_type=content_type, body=body, presets=presets
        )
        return accept_image(submission, self.acceptance)

    def job(self, job_id: str) -> Job:
        job = self.tables.get(job_id)
        assert job is not None
        return job

    def relay(self) -> RelayReport:
        """Relays what the stream got since the last time."""
        records = self.tables.stream[self._relayed :]
        self._relayed = len(self.tables.stream)
        return relay_outbox(
            [OutboxRecord(record.sequence_number, images_of(record)) for record in records],
            work_queue=self.work_queue,
            dead_letters=self.dead_letters,
            clock=self.clock,
        )

    def work(self, limit: int = 5) -> BatchReport:
        """One batch, acknowledged as Lambda would."""
        return self.work_on(self.work_queue.receive(limit))

    def work_on(self, deliveries: Sequence[ReceivedMessage]) -> BatchReport:
        report = process_batch(deliveries, self.worker, self.remaining_seconds)
        kept = set(report.unacknowledged)
        for delivery in deliveries:
            if delivery.message_id not in kept:
                self.work_queue.delete(delivery.receipt_handle)
        return report

    def reconcile(self) -> ReconcileReport:
        return run_pass(self.reconciler, self.remaining_seconds)

    def queued(self, body: bytes = b"a picture", key: str = "key-1") -> str:
        """An accepted job whose message is in the work queue."""
        job_id = self.submit(body, key).job_id
        self.relay()
        return job_id

    def send_to_work_queue(self, body: str) -> None:
        assert not self.work_queue.send([OutgoingMessage(body)])


def new_job(world: World, *, presets: tuple[Preset, ...] = (DEFAULT_PRESET,), owner: str = "alice") -> Job:
    """A job as acceptance writes it, not stored yet."""
    now = world.clock.now()
    return accepted_job(
        job_id=world.ids.job_id(now),
        write_id=world.ids.write_id(),
        owner=owner,
        original=Original(content_type="image/jpeg", byte_length=9, sha256="00" * 32),
        presets=presets,
        now=now,
        deadline_seconds=world.timings.deadline_seconds,
        queued_patience_seconds=world.timings.queued_patience_seconds,
    )


def request_for(job_id: str) -> str:
    return ImageProcessingRequested(job_id=job_id, object_key=f"originals/{job_id}").to_body()


def outcomes(report: BatchReport) -> list[Outcome]:
    return [line.outcome for line in report.processed]


def lost_message(world: World) -> str:
    """A job whose publish never happened: S127, the process died in between."""
    job_id = world.submit().job_id
    world.tables.stream.clear()
    return job_id
