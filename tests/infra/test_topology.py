"""Every relation between the numbers holds for each stage, and breaking it stops synthesis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infra.errors import TopologyError
from infra.settings import STAGE_NAMES, StageSettings, stage_settings
from infra.topology import DAY_SECONDS, Topology, prove, relations, topology_of
from tools.chaos import universe

PROD = topology_of(stage_settings("prod"))


def _numbers(**changes: Any) -> Topology:
    return replace(PROD, **changes)


def _timings(**changes: Any) -> Topology:
    return replace(PROD, timings=replace(PROD.timings, **changes))


def _settings(**changes: Any) -> Topology:
    return replace(PROD, settings=replace(PROD.settings, **changes))


def _limits(**changes: Any) -> Topology:
    return _settings(limits=replace(PROD.settings.limits, **changes))


BROKEN = {
    "ingest timeout < gateway timeout": _numbers(ingest_timeout_seconds=29),
    "a try of a call + the answer <= ingest timeout": _numbers(ingest_timeout_seconds=5),
    "a try of a copy + the answer <= ingest timeout": _numbers(ingest_timeout_seconds=16),
    "the authorizer's one call < authorizer timeout": _numbers(authorizer_timeout_seconds=9),
    "inline picture in base64 <= Lambda's event": _settings(inline_limit_bytes=4_700_000),
    "retry-after <= ingest timeout": _numbers(retry_after_seconds=26),
    "heartbeat <= lease / 3": _timings(heartbeat_seconds=11),
    "heartbeat + skew < lease": _timings(skew_seconds=20, rescue_patience_seconds=60),
    "worst beat + heartbeat < lease": _numbers(beat_call_seconds=10),
    "an attempt's first beat, lost + the next one's write < lease": _numbers(beat_call_seconds=5),
    "a claim that is heard late + worst beat + the lease's write < lease": replace(
        _timings(lease_seconds=12, heartbeat_seconds=4), beat_call_seconds=1
    ),
    "lease + skew < function timeout": _timings(lease_seconds=115),
    "skew + redelivery margin <= rescue patience": _timings(rescue_patience_seconds=6),
    "child's CPU limit <= its wall-clock limit": _limits(cpu_seconds=31),
    "child's wall-clock limit + finishing <= function timeout": _limits(wall_seconds=116),
    "child's memory + handler's <= function memory": _numbers(worker_memory_mb=1_024),
    "function timeout <= Lambda's longest": _timings(function_timeout_seconds=901),
    "backoff base <= backoff ceiling": _timings(backoff_base_seconds=301),
    "cap x (function timeout + longest backoff) <= deadline": _timings(deadline_seconds=2_000),
    "6 x function timeout + batch window <= visibility": _numbers(work_batch_window_seconds=1),
    "visibility <= SQS's longest": _numbers(visibility_seconds=43_201),
    "longest backoff or bounce <= SQS's longest visibility": _timings(
        backoff_ceiling_seconds=43_201, deadline_seconds=3 * DAY_SECONDS
    ),
    "2 x cap + ceil(function timeout / lease) + 5 <= max receive count": _numbers(max_receive_count=18),
    "2 <= mapping's MaximumConcurrency": _settings(worker_max_concurrency=1),
    "mapping's MaximumConcurrency <= 1000": _settings(
        worker_max_concurrency=1_001, worker_reserved_concurrency=None
    ),
    "mapping's MaximumConcurrency <= reserved concurrency": _settings(worker_reserved_concurrency=49),
    "function timeout < oldest-message alarm": _numbers(oldest_message_alarm_seconds=120),
    "relay's record age < the stream's own retention": _numbers(relay_record_age_seconds=DAY_SECONDS),
    "2 x what a pass keeps back <= reconciler timeout": _numbers(reconciler_timeout_seconds=39),
    "reconciler timeout < schedule period": _numbers(reconciler_timeout_seconds=60),
    "patience of queued and rescued jobs + two passes + visibility < deadline": _timings(
        queued_patience_seconds=DAY_SECONDS
    ),
    "patience of queued and rescued jobs + two passes + visibility < oldest-open-job alarm": _numbers(
        oldest_open_job_alarm_seconds=1_200
    ),
    "iterator-age alarm < relay's record age": _numbers(iterator_age_alarm_seconds=3_600),
    "deadline + visibility < source retention": _numbers(work_retention_seconds=DAY_SECONDS),
    "source retention < undelivered retention": _numbers(undelivered_retention_seconds=4 * DAY_SECONDS),
    "undelivered retention <= SQS's longest": _numbers(undelivered_retention_seconds=15 * DAY_SECONDS),
    "source retention < dead-letter retention": _numbers(dead_letter_retention_seconds=4 * DAY_SECONDS),
    "dead-letter retention <= SQS's longest": _numbers(dead_letter_retention_seconds=15 * DAY_SECONDS),
    "source + dead-letter retention < terminal rows' retention": _timings(retention_days=18),
    "idempotency records <= terminal rows' retention": _numbers(idempotency_seconds=366 * DAY_SECONDS),
}


@pytest.mark.parametrize("relation", BROKEN)
def test_a_broken_relation_is_named_with_both_numbers(relation: str) -> None:
    broken = [found for found in relations(BROKEN[relation]) if not found.holds]

    with pytest.raises(TopologyError) as caught:
        prove(BROKEN[relation])

    assert str(caught.value).startswith(relation)
    assert f"{broken[0].smaller:g} is not" in str(caught.value)
    assert str(caught.value).endswith(f"{broken[0].larger:g}")


def test_every_relation_is_broken_by_a_test_above() -> None:
    named = {
        relation.name.removesuffix(", in seconds").removesuffix(", in bytes") for relation in relations(PROD)
    }

    assert named == set(BROKEN)


@pytest.mark.parametrize("name", STAGE_NAMES)
def test_the_numbers_of_every_stage_are_proven(name: str) -> None:
    topology = topology_of(stage_settings(name))

    assert topology.visibility_seconds == 6 * topology.timings.function_timeout_seconds
    assert all(relation.holds for relation in relations(topology))


def test_the_simulation_runs_on_the_deployed_numbers() -> None:
    """The tools may not import them, so they are held to be the same here."""
    assert PROD.timings == universe.TIMINGS
    assert PROD.visibility_seconds == universe.VISIBILITY_SECONDS
    assert PROD.settings.limits == universe.LIMITS


def test_a_stage_whose_settings_break_a_relation_has_no_topology() -> None:
    settings: StageSettings = replace(stage_settings("prod"), worker_max_concurrency=60)

    with pytest.raises(TopologyError, match="60 is not at most 50"):
        topology_of(settings)


def test_rows_kept_for_ever_outlive_everything() -> None:
    topology = topology_of(replace(stage_settings("prod"), retention_days=0))

    assert topology.timings.retention_days == 0
    assert not any("terminal rows" in relation.name for relation in relations(topology))


def test_the_local_stage_shows_a_recovery_within_seconds() -> None:
    local = topology_of(stage_settings("local")).timings

    assert local.lease_seconds + local.skew_seconds + local.rescue_patience_seconds <= 10
    assert local.queued_patience_seconds <= 10
