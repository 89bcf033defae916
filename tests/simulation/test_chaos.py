"""The chaos simulation itself: it finds every bug that is planted here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from tests.simulation.planting import (
    FAIR,
    JOBS,
    STORMY,
    UNAIDED,
    Plant,
    found,
    let_the_queue_give_up,
    let_the_relay_give_up,
    only,
    runs,
    without_change,
    without_condition,
)
from thumbline.adapters.memory.queue import MemoryQueue
from thumbline.adapters.memory.renderer import MemoryRenderer
from thumbline.domain.checkup import (
    Delivery,
    Diagnosis,
    RefusedClaim,
    Treatment,
    diagnose,
    explain_refused_claim,
)
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.job import Job
from thumbline.domain.messages import BadMessageError, parse_request
from thumbline.domain.transition import owned_by
from thumbline.domain.transitions import attempt, redrive, unleased
from thumbline.service import (
    delete_job,
    make_thumbnails,
    process_delivery,
    redrive_job,
    relay_outbox,
    worker,
)
from thumbline.service.heartbeat import Heartbeat
from thumbline.service.reconcile import drain_undelivered, renew_owed, run_pass, treat_due_jobs
from thumbline.service.reconcile.reconciler import Healed
from thumbline.service.reconcile.treat_each import Treated
from thumbline.service.worker import Outcome
from tools.chaos import clients, universe
from tools.chaos.pictures import Kind
from tools.chaos.run import run_seed
from tools.chaos.weather import Weather

# The outcome of each picture.


def test_a_picture_that_fails_as_another_kind_does_is_found(monkeypatch: Plant) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermanentError(FailureCode.CORRUPT, "every picture is refused")

    monkeypatch.setattr(process_delivery, "make_thumbnails", refuse)
    for seed in (STORMY, UNAIDED, FAIR):
        assert found("I8 a good picture failed as corrupt", seed, jobs=8)


def test_a_transient_failure_that_becomes_permanent_is_found(monkeypatch: Plant) -> None:
    def give_up(process: Any, claimed: Job, failure: Any) -> Any:
        moment = process._moment()
        return process._finish(attempt.fail(claimed.job_id, claimed.fencing_token, failure, moment), failure)

    only(monkeypatch, Kind.FLAKY)
    monkeypatch.setattr(process_delivery._Process, "_retry_or_exhaust", give_up)
    assert found("I8 a flaky picture failed as render_crashed", FAIR, jobs=16)


def test_an_exhaustion_below_the_cap_is_found(monkeypatch: Plant) -> None:
    def give_up(process: Any, claimed: Job, failure: Any) -> Any:
        last = attempt.exhausted_failure(failure, claimed.attempts)
        exhaust = without_condition(attempt.exhaust, "attempts")
        transition = exhaust(claimed.job_id, claimed.fencing_token, last, process._moment())
        return process._finish(transition, last)

    only(monkeypatch, Kind.FLAKY)
    monkeypatch.setattr(process_delivery._Process, "_retry_or_exhaust", give_up)
    assert found("I9 it is exhausted after 1 attempts", FAIR, jobs=16)


def test_an_attempt_that_is_given_back_for_a_crash_is_found(monkeypatch: Plant) -> None:
    release = attempt.release
    monkeypatch.setattr(
        process_delivery, "release", lambda *args, **kw: release(*args, **kw | {"give_attempt_back": True})
    )
    only(monkeypatch, Kind.FLAKY)
    assert found("I5 an attempt that ended as render_crashed was given back", FAIR, jobs=8)


def test_an_attempt_that_an_outage_costs_is_found(monkeypatch: Plant) -> None:
    release = attempt.release
    monkeypatch.setattr(
        process_delivery, "release", lambda *args, **kw: release(*args, **kw | {"give_attempt_back": False})
    )
    monkeypatch.setattr(universe, "Weather", partial(Weather, refused=0.2))
    assert found("I5 an attempt that ended as dependency_unavailable was kept", STORMY)


def test_an_early_expiry_is_found(monkeypatch: Plant) -> None:
    expire = without_condition(unleased.expire, "deadline_at")
    monkeypatch.setattr(treat_due_jobs, "expire", expire)
    monkeypatch.setattr(treat_due_jobs, "diagnose", lambda *_: Diagnosis(Treatment.EXPIRE))
    assert found("I8 it expired before its deadline")


def test_a_claim_after_the_deadline_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(process_delivery, "claim", without_condition(attempt.claim, "deadline_at"))
    monkeypatch.setattr(clients, "_HURRIED", 1.0)
    only(monkeypatch, Kind.POISON)
    assert found("I1 it was claimed after its deadline", UNAIDED)


def test_a_deadline_that_nobody_keeps_is_found(monkeypatch: Plant) -> None:
    def treat_leniently(job: Job | None, now: int, *others: Any) -> Diagnosis:
        diagnosis = diagnose(job, now, *others)
        expired = diagnosis.treatment is Treatment.EXPIRE
        return Diagnosis(Treatment.POSTPONE, now + 60_000) if expired else diagnosis

    def receive_leniently(job: Job | None, now: int, *others: Any) -> RefusedClaim:
        refused = explain_refused_claim(job, now, *others)
        expired = refused.delivery is Delivery.EXPIRE
        return RefusedClaim(Delivery.BOUNCE, now + 60_000) if expired else refused

    only(monkeypatch, Kind.POISON)
    monkeypatch.setattr(treat_due_jobs, "diagnose", treat_leniently)
    monkeypatch.setattr(process_delivery, "explain_refused_claim", receive_leniently)
    assert found("I1 is still QUEUED after its deadline", FAIR)


def test_a_bad_message_that_nobody_sent_is_found(monkeypatch: Plant) -> None:
    def misread(body: str) -> None:
        raise BadMessageError("I know no such version", parse_request(body).job_id)

    monkeypatch.setattr(process_delivery, "parse_request", misread)
    assert found("I8 it failed for a bad message that nobody sent", FAIR, jobs=8)


def test_a_success_without_thumbnails_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(process_delivery, "make_thumbnails", lambda *_, **__: {})
    assert found("I3 it succeeded without all of ['thumbnail']", FAIR, jobs=8)


def test_a_thumbnail_of_another_picture_is_found(monkeypatch: Plant) -> None:
    render = MemoryRenderer.render

    def confuse(renderer: Any, _original: bytes, *args: Any, **options: Any) -> Any:
        return render(renderer, b"GIF89a good another", *args, **options)

    monkeypatch.setattr(MemoryRenderer, "render", confuse)
    assert found("I3 shows another picture", FAIR, jobs=8)


# Deletes, redrives and the end of retention.


def test_a_tombstone_that_no_client_wanted_is_found(monkeypatch: Plant) -> None:
    """A terminal row whose check stays where the attempt's was is retired within a minute."""
    complete = without_change(attempt.complete, "next_check_at", "check_shard")
    monkeypatch.setattr(process_delivery, "complete", complete)
    run = run_seed(FAIR, JOBS)
    assert any("neither its client nor its retention wanted it" in sentence for sentence in run.violations)
    assert run.lost > 0


def test_a_delete_without_effect_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(delete_job, "_entomb", lambda *_: None)
    assert found("I2 was answered and left no tombstone")


@pytest.mark.parametrize(
    ("attribute", "sentence"),
    [
        ("attempts", "I9 a redrive left it"),
        ("deadline_at", "I9 a redrive left it its old deadline"),
        ("trace", "I2 it was terminal and reopened"),
        ("outbox_seq", "I10 has no message, and none is owed"),
    ],
)
def test_a_redrive_that_leaves_something_behind_is_found(
    monkeypatch: Plant, attribute: str, sentence: str
) -> None:
    only(monkeypatch, Kind.BROKEN)
    monkeypatch.setattr(redrive_job, "redrive", without_change(redrive.redrive, attribute))
    assert found(sentence, FAIR)


def test_an_old_copy_that_redrives_a_later_life_is_found(monkeypatch: Plant) -> None:
    only(monkeypatch, Kind.POISON)
    monkeypatch.setattr(redrive_job, "redrive", without_condition(redrive.redrive, "generation"))
    assert found("I9 redrove a later life", FAIR)


# The bound.


def test_messages_that_are_never_done_are_found(monkeypatch: Plant) -> None:
    """No job is open: only the queue is not at rest."""
    delete = MemoryQueue.delete

    def keep(queue: MemoryQueue, receipt_handle: str) -> None:
        if queue.name != "work_queue":
            delete(queue, receipt_handle)

    monkeypatch.setattr(MemoryQueue, "delete", keep)
    monkeypatch.setattr(MemoryQueue, "_is_given_up", lambda *_: False)
    assert found("I1 no rest within the bound: 0 open jobs, ", FAIR, jobs=8)


@pytest.mark.parametrize(
    ("part", "give_up", "left"),
    [
        ("drain_undelivered", let_the_queue_give_up, "undelivered messages"),
        ("renew_owed", let_the_relay_give_up, "relay failures"),
    ],
)
def test_a_part_of_the_pass_that_does_nothing_is_found(
    monkeypatch: Plant, part: str, give_up: Callable[[Plant], None], left: str
) -> None:
    """Though the scan of the rows repairs what it should have."""
    give_up(monkeypatch)
    parts = tuple(one for one in run_pass._PARTS if one is not getattr(run_pass, part))
    monkeypatch.setattr(run_pass, "_PARTS", parts)
    assert found(f"I1 {left}", STORMY)


# The main path, which the reconciler must not hide.


def test_a_relay_that_publishes_nothing_is_found(monkeypatch: Plant) -> None:
    owes = relay_outbox._job_that_owes
    monkeypatch.setattr(
        relay_outbox,
        "_job_that_owes",
        lambda old, new: None if new["status"] == "QUEUED" else owes(old, new),
    )
    for seed in (STORMY, UNAIDED, FAIR):
        assert found("I10 has no message, and none is owed", seed)


def test_a_relay_that_forgets_exhausted_jobs_is_found(monkeypatch: Plant) -> None:
    only(monkeypatch, Kind.POISON)
    monkeypatch.setattr(relay_outbox, "owes_copy", lambda _job: False)
    assert found("I9 has no copy", FAIR)


def test_a_relay_that_publishes_too_late_is_found(monkeypatch: Plant) -> None:
    """The message exists; the reconciler sends another and hides the wait."""
    monkeypatch.setattr(relay_outbox, "delay_seconds", lambda *_: 900)
    assert found("I10 the reconciler had to heal", FAIR)


@pytest.mark.parametrize("seed", [STORMY, FAIR])
def test_a_worker_without_a_heartbeat_is_found(monkeypatch: Plant, seed: int) -> None:
    only(monkeypatch, Kind.SLOW)
    monkeypatch.setattr(Heartbeat, "beat", lambda _heartbeat: None)
    assert found("I4 ran out while its worker was well", seed, jobs=16)


def test_a_message_that_sleeps_for_hours_is_found(monkeypatch: Plant) -> None:
    """Without the reconciler nobody sends another in its place."""
    monkeypatch.setattr(process_delivery, "backoff_seconds", lambda *_, **__: 20_000.0)
    only(monkeypatch, Kind.FLAKY)
    assert found("I1 no rest within the bound", UNAIDED)


def test_lost_messages_that_are_dropped_are_found(monkeypatch: Plant) -> None:
    let_the_queue_give_up(monkeypatch)
    monkeypatch.setattr(drain_undelivered, "_heal_job", lambda *_: Healed.DROPPED)
    assert found("I10 has no message, and none is owed", STORMY)


def test_relay_failures_that_are_dropped_are_found(monkeypatch: Plant) -> None:
    let_the_relay_give_up(monkeypatch)
    monkeypatch.setattr(renew_owed, "_owe_again", lambda *_: Treated(Healed.DROPPED))
    assert found("I10 has no message, and none is owed")


def test_a_good_picture_that_needs_two_attempts_on_a_fair_day_is_found(monkeypatch: Plant) -> None:
    begun: set[str] = set()

    def stumble(job: Job, *args: Any, **options: Any) -> Any:
        if job.job_id not in begun:
            begun.add(job.job_id)
            raise TransientError(FailureCode.RENDER_CRASHED, "the first time")
        return make_thumbnails.make_thumbnails(job, *args, **options)

    monkeypatch.setattr(process_delivery, "make_thumbnails", stumble)
    assert found("I8 took 2 attempts on a fair day", FAIR)


def test_an_error_of_ours_is_found(monkeypatch: Plant) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(process_delivery, "make_thumbnails", fail)
    assert any("KeyError" in violation for violation in run_seed(0, 8).violations)


# Acknowledgements, claims and objects.


@pytest.mark.parametrize("outcome", [Outcome.BOUNCED, Outcome.RELEASED])
def test_an_ack_before_the_work_is_found(monkeypatch: Plant, outcome: Outcome) -> None:
    monkeypatch.setattr(worker, "_ACKNOWLEDGED", worker._ACKNOWLEDGED | {outcome})
    assert found("I10 was acknowledged")


def test_a_success_that_is_not_acknowledged_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(worker, "_ACKNOWLEDGED", worker._ACKNOWLEDGED - {Outcome.SUCCEEDED})
    assert found("I10 was delivered again after its success on a fair day", FAIR, jobs=8)


def test_a_claim_that_takes_a_live_lease_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(attempt, "has_dead_lease", lambda _moment: owned_by(0)[0])
    assert found("I7 was taken away", STORMY)


@pytest.mark.parametrize("attribute", ["fencing_token", "attempts"])
def test_a_claim_that_counts_nothing_is_found(monkeypatch: Plant, attribute: str) -> None:
    monkeypatch.setattr(process_delivery, "claim", without_change(attempt.claim, attribute))
    assert found("I5 it was claimed", FAIR, jobs=8)


class FreezingWeather(Weather):
    """A worker often freezes just before it puts, for longer than its lease."""

    @contextmanager
    def around(self, dependency: str, operation: str) -> Iterator[None]:
        process = self.scheduler.process
        if operation == "put_thumbnail" and process is not None and self.chance.random() < 0.3:
            process.frozen_until = self.scheduler.now + 80_000
            process.struck = True
        with super().around(dependency, operation):
            yield


def test_a_late_worker_that_completes_another_attempt_is_found(monkeypatch: Plant) -> None:
    only(monkeypatch, Kind.SLOW)
    monkeypatch.setattr(universe, "Weather", FreezingWeather)
    monkeypatch.setattr(process_delivery, "complete", without_condition(attempt.complete, "fencing_token"))
    assert found("I4 a stranger wrote under token")


def test_an_object_that_another_release_overwrites_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(universe, "Weather", FreezingWeather)
    assert runs(STORMY)[0].is_good
    monkeypatch.setattr(make_thumbnails, "thumbnail_key", lambda job_id, *_: f"thumbnails/{job_id}/thumbnail")
    assert found("I13 changed after its row pointed at it")
