"""How long our clients may wait, and what that must fit: a request's time, and a lease."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from infra.relation import Relation
from thumbline.adapters.aws.queue import MAX_BATCH_ENTRIES
from thumbline.domain.patience import ANSWERING, ATTEMPTING, COPYING, beating
from thumbline.domain.timings import Timings
from thumbline.service.reconcile.allowance import FINISHING_SECONDS


def answering_relations(ingest_timeout_seconds: int, authorizer_timeout_seconds: int) -> Iterator[Relation]:
    """`RequestTime` begins no try that could outlast the request, so none does, however many calls it makes;
    what is left to prove is that a request which has waited for nothing yet may begin one."""
    for what, patience in (("call", ANSWERING), ("copy", COPYING)):
        yield Relation(
            f"a try of a {what} + the answer <= ingest timeout, in seconds",
            patience.answered_seconds,
            ingest_timeout_seconds,
        )
    yield Relation(
        "the authorizer's one call < authorizer timeout, in seconds",
        ANSWERING.call_seconds,
        authorizer_timeout_seconds,
        strict=True,
    )


def pass_relations(reconciler_timeout_seconds: int) -> Iterator[Relation]:
    """What is kept back for calls that hang, for the snapshot and the metrics leaves time for the parts."""
    yield Relation(
        "2 x what a pass keeps back <= reconciler timeout, in seconds",
        2 * FINISHING_SECONDS,
        reconciler_timeout_seconds,
    )


def beat_relations(
    timings: Timings, *, batch_size: int, call_seconds: int, calls_may_hang: bool
) -> Iterator[Relation]:
    """A live worker's lease does not end while its table or its queue is slow.

    `calls_may_hang`: not where an emulator runs beside the worker.
    """
    write_seconds = beating(call_seconds).call_seconds
    timers_seconds = ceil(batch_size / MAX_BATCH_ENTRIES) * write_seconds
    beat_seconds = write_seconds + timers_seconds
    yield Relation(
        "worst beat + heartbeat < lease, in seconds",
        beat_seconds + timings.heartbeat_seconds,
        timings.lease_seconds,
        strict=True,
    )
    if not calls_may_hang:
        return
    # Beats begin a heartbeat apart, or one worst beat. A new attempt's first one may wait for a beat of
    # its batch that is under way, and then for the attempt's own timers.
    apart_seconds = max(timings.heartbeat_seconds, beat_seconds)
    first_seconds = max(timings.heartbeat_seconds, beat_seconds + timers_seconds)
    yield Relation(
        "an attempt's first beat, lost + the next one's write < lease, in seconds",
        first_seconds + apart_seconds + write_seconds,
        timings.lease_seconds,
        strict=True,
    )
    # A lease counts from when its claim was sent.
    yield Relation(
        "a claim that is heard late + worst beat + the lease's write < lease, in seconds",
        ATTEMPTING.call_seconds + beat_seconds + write_seconds,
        timings.lease_seconds,
        strict=True,
    )
