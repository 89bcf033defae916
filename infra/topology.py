"""Every number that depends on another one, the reason beside each, and the proof that they fit together.

`topology_of` computes a stage's numbers; `prove` raises on the first broken relation, because CDK would only
warn. The relations are those of the protocol: a lease within a visibility timeout within a retention.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from infra.errors import TopologyError
from infra.relation import Relation
from infra.settings import StageSettings
from infra.waiting import answering_relations, beat_relations, pass_relations
from thumbline.domain.timings import Timings
from thumbline.service.worker import FINISHING_SECONDS

MINUTE_SECONDS = 60
HOUR_SECONDS = 60 * MINUTE_SECONDS
DAY_SECONDS = 24 * HOUR_SECONDS

GATEWAY_TIMEOUT_SECONDS = 29
"""API Gateway answers 504 by itself after this (quota "maximum integration timeout")."""
LONGEST_FUNCTION_TIMEOUT_SECONDS = 15 * MINUTE_SECONDS
LONGEST_VISIBILITY_SECONDS = 12 * HOUR_SECONDS
LONGEST_QUEUE_RETENTION_SECONDS = 14 * DAY_SECONDS
STREAM_RETENTION_SECONDS = DAY_SECONDS
"""DynamoDB Streams forgets a record after a day, read or not."""
MAX_EVENT_BYTES = 6_291_556
"""Lambda's limit on an event, after API Gateway has put the body into base64."""
EVENT_ENVELOPE_BYTES = 200_000
"""Headers, query and request context around the body: API Gateway takes 10,240 bytes of header fields."""
MAPPING_CONCURRENCY_RANGE = (2, 1_000)
"""What an SQS mapping accepts as MaximumConcurrency."""
REDELIVERY_MARGIN_SECONDS = 2
"""After a claim, visibility is lease + skew + this: a crash is redelivered just past the lease."""
LONGEST_BOUNCE_SECONDS = 900
"""The worker's longest bounce of a message whose row it cannot read."""
HANDLER_MEMORY_BYTES = 400_000_000
"""The handler's own interpreter, SDK and one batch's originals, beside the decoding child."""
SCHEDULE_PERIOD_SECONDS = MINUTE_SECONDS
"""The finest that EventBridge schedules."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A stage's related numbers, before anything is made of them."""

    settings: StageSettings
    timings: Timings
    visibility_seconds: int
    """Lambda demands the function timeout; AWS advises six times that, so that throttled polls try again."""

    ingest_timeout_seconds: int = 25
    """Four seconds less than the gateway waits, so that a slow dependency ends in our problem document: no
    call begins that could not end within it (`RequestTime`), however many a request makes."""
    authorizer_timeout_seconds: int = 10
    """One read, tried twice; the rest of the gateway's wait belongs to the request itself."""
    authorizer_cache_seconds: int = 5 * MINUTE_SECONDS
    """How long a revoked token may still open the gateway."""
    relay_timeout_seconds: int = 60
    """A batch is a handful of SendMessageBatch calls; the rest is room for their retries."""
    reconciler_timeout_seconds: int = 55
    """A pass ends before the next one starts."""

    function_memory_mb: int = 512
    """A third of a vCPU: these functions wait for other services, and cold starts are CPU."""
    reconciler_memory_mb: int = 1_024
    """Its calls, eight at once, cost about a millisecond of a CPU each."""
    worker_memory_mb: int = 1_769
    """One whole vCPU (Lambda gives CPU in proportion to memory)."""

    beat_call_seconds: int = 4
    """A heartbeat's call, tried once: the next beat is its other try."""

    work_batch_size: int = 5
    """Small: one slow picture holds back at most four others of its batch."""
    work_batch_window_seconds: int = 0
    """Waiting for fuller batches would delay every thumbnail of a quiet hour."""
    max_receive_count: int = 20
    """Throttles, bounces and crashes spend receives, too; only attempts decide that a job has failed."""
    work_retention_seconds: int = 4 * DAY_SECONDS
    undelivered_retention_seconds: int = LONGEST_QUEUE_RETENTION_SECONDS
    """SQS counts it from the first enqueue, so it includes the time spent in the work queue."""
    dead_letter_retention_seconds: int = LONGEST_QUEUE_RETENTION_SECONDS
    """As long as SQS allows: a person has to look."""

    relay_batch_size: int = 100
    """Ten SendMessageBatch calls."""
    relay_retry_attempts: int = 20
    """Finite: a record that cannot be relayed would block its shard until the stream forgets everything."""
    relay_record_age_seconds: int = HOUR_SECONDS
    """The row is the truth and the reconciler covers it, so an hour of holding a shard back is enough."""

    max_jobs_per_run: int = 2_000
    """Of each part of a pass: three calls of about 20 ms a job, eight jobs at once, are 15 s. A part that
    takes longer stops by its share of the time."""
    retry_after_seconds: int = 2
    """A client's polling interval: most thumbnails are made within it."""
    signed_url_seconds: int = 5 * MINUTE_SECONDS
    idempotency_seconds: int = DAY_SECONDS

    oldest_message_alarm_seconds: int = 5 * MINUTE_SECONDS
    oldest_open_job_alarm_seconds: int = 30 * MINUTE_SECONDS
    """Later than every repair that needs no person: redelivery, re-publish, rescue."""
    iterator_age_alarm_seconds: int = 5 * MINUTE_SECONDS
    """Long before the relay gives a record up."""
    worker_errors_alarm_count: int = 3
    """In five minutes. One killed worker heals by itself; three are a pattern."""
    rescues_alarm_count: int = 5
    """In a quarter of an hour. The reconciler must not hide that the main path is broken."""
    server_errors_alarm_count: int = 5
    """In five minutes. Clients repeat a single 5xx under the same key."""


_DEPLOYED_TIMINGS = Timings(
    lease_seconds=30,
    skew_seconds=5,
    heartbeat_seconds=10,
    attempt_cap=5,
    function_timeout_seconds=120,
    deadline_seconds=DAY_SECONDS,
    retention_days=365,
    queued_patience_seconds=5 * MINUTE_SECONDS,
    rescue_patience_seconds=MINUTE_SECONDS,
    backoff_base_seconds=2,
    backoff_ceiling_seconds=5 * MINUTE_SECONDS,
)

_LOCAL_BEAT_CALL_SECONDS = 1
"""The emulator answers within milliseconds."""
_LOCAL_TIMINGS = replace(
    _DEPLOYED_TIMINGS,
    # Everything that a person would wait for is shortened; the relations stay.
    lease_seconds=6,
    skew_seconds=1,
    heartbeat_seconds=2,
    function_timeout_seconds=30,
    queued_patience_seconds=10,
    rescue_patience_seconds=3,
    backoff_base_seconds=1,
    backoff_ceiling_seconds=10,
)


def topology_of(settings: StageSettings) -> Topology:
    """The stage's numbers, proven. Raises TopologyError."""
    is_local = settings.name == "local"
    timings = replace(
        _LOCAL_TIMINGS if is_local else _DEPLOYED_TIMINGS, retention_days=settings.retention_days
    )
    topology = Topology(
        settings=settings,
        timings=timings,
        visibility_seconds=6 * timings.function_timeout_seconds + Topology.work_batch_window_seconds,
        beat_call_seconds=_LOCAL_BEAT_CALL_SECONDS if is_local else Topology.beat_call_seconds,
    )
    prove(topology)
    return topology


def prove(topology: Topology) -> None:
    """Raises TopologyError naming the first relation that does not hold, with both numbers."""
    for relation in relations(topology):
        if not relation.holds:
            verb = "less than" if relation.strict else "at most"
            raise TopologyError(f"{relation.name}: {relation.smaller:g} is not {verb} {relation.larger:g}")


def relations(topology: Topology) -> Iterator[Relation]:
    """All that must hold between the numbers, in the order in which a job meets them."""
    yield from _gateway_relations(topology)
    yield from _lease_relations(topology)
    yield from _attempt_relations(topology)
    yield from _queue_relations(topology)
    yield from _stream_relations(topology)
    yield from _retention_relations(topology)


def _gateway_relations(topology: Topology) -> Iterator[Relation]:
    event_bytes = 4 * ceil(topology.settings.inline_limit_bytes / 3) + EVENT_ENVELOPE_BYTES
    yield Relation(
        "ingest timeout < gateway timeout, in seconds",
        topology.ingest_timeout_seconds,
        GATEWAY_TIMEOUT_SECONDS,
        strict=True,
    )
    yield from answering_relations(topology.ingest_timeout_seconds, topology.authorizer_timeout_seconds)
    yield Relation("inline picture in base64 <= Lambda's event, in bytes", event_bytes, MAX_EVENT_BYTES)
    yield Relation(
        "retry-after <= ingest timeout, in seconds",
        topology.retry_after_seconds,
        topology.ingest_timeout_seconds,
    )


def _lease_relations(topology: Topology) -> Iterator[Relation]:
    t = topology.timings
    yield Relation("heartbeat <= lease / 3, in seconds", t.heartbeat_seconds, t.lease_seconds / 3)
    yield Relation(
        "heartbeat + skew < lease, in seconds",
        t.heartbeat_seconds + t.skew_seconds,
        t.lease_seconds,
        strict=True,
    )
    yield from beat_relations(
        t,
        batch_size=topology.work_batch_size,
        call_seconds=topology.beat_call_seconds,
        calls_may_hang=topology.settings.name != "local",
    )
    yield Relation(
        "lease + skew < function timeout, in seconds",
        t.lease_seconds + t.skew_seconds,
        t.function_timeout_seconds,
        strict=True,
    )
    # Else the reconciler would race the redelivery that is due anyway.
    yield Relation(
        "skew + redelivery margin <= rescue patience, in seconds",
        t.skew_seconds + REDELIVERY_MARGIN_SECONDS,
        t.rescue_patience_seconds,
    )


def _attempt_relations(topology: Topology) -> Iterator[Relation]:
    t, limits = topology.timings, topology.settings.limits
    yield Relation(
        "child's CPU limit <= its wall-clock limit, in seconds", limits.cpu_seconds, limits.wall_seconds
    )
    yield Relation(
        "child's wall-clock limit + finishing <= function timeout, in seconds",
        limits.wall_seconds + FINISHING_SECONDS,
        t.function_timeout_seconds,
    )
    yield Relation(
        "child's memory + handler's <= function memory, in bytes",
        limits.memory_bytes + HANDLER_MEMORY_BYTES,
        topology.worker_memory_mb * 1024 * 1024,
    )
    yield Relation(
        "function timeout <= Lambda's longest, in seconds",
        t.function_timeout_seconds,
        LONGEST_FUNCTION_TIMEOUT_SECONDS,
    )
    yield Relation(
        "backoff base <= backoff ceiling, in seconds", t.backoff_base_seconds, t.backoff_ceiling_seconds
    )
    # Otherwise jobs expire that still have attempts left.
    yield Relation(
        "cap x (function timeout + longest backoff) <= deadline, in seconds",
        t.attempt_cap * (t.function_timeout_seconds + t.backoff_ceiling_seconds),
        t.deadline_seconds,
    )


def _queue_relations(topology: Topology) -> Iterator[Relation]:
    t, settings = topology.timings, topology.settings
    yield Relation(
        "6 x function timeout + batch window <= visibility, in seconds",
        6 * t.function_timeout_seconds + topology.work_batch_window_seconds,
        topology.visibility_seconds,
    )
    yield Relation(
        "visibility <= SQS's longest, in seconds", topology.visibility_seconds, LONGEST_VISIBILITY_SECONDS
    )
    yield Relation(
        "longest backoff or bounce <= SQS's longest visibility, in seconds",
        max(t.backoff_ceiling_seconds, LONGEST_BOUNCE_SECONDS),
        LONGEST_VISIBILITY_SECONDS,
    )
    # Every attempt may cost a bounce; a lease that outlives its worker, one for each of its lengths.
    yield Relation(
        "2 x cap + ceil(function timeout / lease) + 5 <= max receive count",
        2 * t.attempt_cap + ceil(t.function_timeout_seconds / t.lease_seconds) + 5,
        topology.max_receive_count,
    )
    smallest, largest = MAPPING_CONCURRENCY_RANGE
    yield Relation("2 <= mapping's MaximumConcurrency", smallest, settings.worker_max_concurrency)
    yield Relation("mapping's MaximumConcurrency <= 1000", settings.worker_max_concurrency, largest)
    if settings.worker_reserved_concurrency is not None:
        yield Relation(
            "mapping's MaximumConcurrency <= reserved concurrency",
            settings.worker_max_concurrency,
            settings.worker_reserved_concurrency,
        )
    # One slow attempt with its heartbeats is no backlog.
    yield Relation(
        "function timeout < oldest-message alarm, in seconds",
        t.function_timeout_seconds,
        topology.oldest_message_alarm_seconds,
        strict=True,
    )


def _stream_relations(topology: Topology) -> Iterator[Relation]:
    t = topology.timings
    yield Relation(
        "iterator-age alarm < relay's record age, in seconds",
        topology.iterator_age_alarm_seconds,
        topology.relay_record_age_seconds,
        strict=True,
    )
    yield Relation(
        "relay's record age < the stream's own retention, in seconds",
        topology.relay_record_age_seconds,
        STREAM_RETENTION_SECONDS,
        strict=True,
    )
    yield from pass_relations(topology.reconciler_timeout_seconds)
    yield Relation(
        "reconciler timeout < schedule period, in seconds",
        topology.reconciler_timeout_seconds,
        SCHEDULE_PERIOD_SECONDS,
        strict=True,
    )
    # A lost message must be noticed, published again and worked on before a person is called, and long before
    # the job expires.
    healed_seconds = (
        t.queued_patience_seconds
        + t.rescue_patience_seconds
        + 2 * SCHEDULE_PERIOD_SECONDS
        + topology.visibility_seconds
    )
    yield Relation(
        "patience of queued and rescued jobs + two passes + visibility < deadline, in seconds",
        healed_seconds,
        t.deadline_seconds,
        strict=True,
    )
    yield Relation(
        "patience of queued and rescued jobs + two passes + visibility < oldest-open-job alarm, in seconds",
        healed_seconds,
        topology.oldest_open_job_alarm_seconds,
        strict=True,
    )


def _retention_relations(topology: Topology) -> Iterator[Relation]:
    t = topology.timings
    # A message that SQS drops while its job is open would be work for the reconciler.
    yield Relation(
        "deadline + visibility < source retention, in seconds",
        t.deadline_seconds + topology.visibility_seconds,
        topology.work_retention_seconds,
        strict=True,
    )
    for queue, retention_seconds in (
        ("undelivered", topology.undelivered_retention_seconds),
        ("dead-letter", topology.dead_letter_retention_seconds),
    ):
        yield Relation(
            f"source retention < {queue} retention, in seconds",
            topology.work_retention_seconds,
            retention_seconds,
            strict=True,
        )
        yield Relation(
            f"{queue} retention <= SQS's longest, in seconds",
            retention_seconds,
            LONGEST_QUEUE_RETENTION_SECONDS,
        )
    if t.retention_days == 0:
        return
    terminal_seconds = t.retention_days * DAY_SECONDS
    # The row is what tells a late message that its job is done: it must outlive every message.
    yield Relation(
        "source + dead-letter retention < terminal rows' retention, in seconds",
        topology.work_retention_seconds + topology.dead_letter_retention_seconds,
        terminal_seconds,
        strict=True,
    )
    yield Relation(
        "idempotency records <= terminal rows' retention, in seconds",
        topology.idempotency_seconds,
        terminal_seconds,
    )
