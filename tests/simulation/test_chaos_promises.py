"""Bugs in what clients were promised, planted and found: keys, owners, originals, thumbnails, clean-up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.simulation.planting import FAIR, STORMY, Plant, found, only
from thumbline.adapters.memory.jobs import MemoryTables
from thumbline.adapters.memory.objects import MemoryObjects
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Job
from thumbline.domain.messages import exhausted_copy
from thumbline.service import accept_job, delete_job, relay_outbox
from thumbline.service.reconcile import run_pass, sweep_orphans, treat_due_jobs
from thumbline.service.reconcile.reconciler import Healed
from tools.chaos import clients
from tools.chaos.pictures import Kind
from tools.chaos.run import run_seed


def test_a_202_without_a_row_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(MemoryTables, "accept", lambda *_: None)
    assert found("I1 which has no row", FAIR, jobs=8)


def test_two_jobs_of_one_key_are_found(monkeypatch: Plant) -> None:
    """A double click finds no record, and the transaction looks at none."""
    monkeypatch.setattr(MemoryTables, "find_record", lambda *_: None)
    monkeypatch.setattr(IdempotencyRecord, "is_live", lambda *_: False)
    assert found("I6 one key was answered with two jobs", FAIR, jobs=80)
    assert found("I15 80 submissions became", FAIR, jobs=80)


def test_a_key_that_takes_another_picture_is_found(monkeypatch: Plant) -> None:
    def replay(record: IdempotencyRecord, *_: object) -> accept_job.Accepted:
        return accept_job.Accepted(record.job_id, replayed=True)

    monkeypatch.setattr(accept_job, "_replay", replay)
    assert found("I6 accepted two pictures", FAIR, jobs=80)


def test_a_stranger_who_reads_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(clients, "read_job", lambda *_: None)
    assert found("I14 a stranger read", FAIR, jobs=8)


def test_an_acceptance_without_its_original_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(MemoryObjects, "put_original", lambda *_: None)
    assert found("I12 was accepted without its original", FAIR, jobs=8)


def test_a_thumbnail_that_was_not_put_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(MemoryObjects, "put_thumbnail", lambda *_: None)
    assert found("I3 is not right", FAIR, jobs=8)


def test_objects_that_go_before_their_job_are_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(delete_job, "_entomb", lambda *_: None)
    assert found("I12 was removed and its job lives")
    assert found("I12 the original of")


def test_a_copy_of_another_life_is_found(monkeypatch: Plant) -> None:
    def of_the_next_life(job: Job) -> Any:
        return exhausted_copy(replace(job, generation=job.generation + 1))

    only(monkeypatch, Kind.POISON)
    monkeypatch.setattr(relay_outbox, "exhausted_copy", of_the_next_life)
    assert found("I9 exists, which is not exhausted", FAIR, jobs=8)


def test_a_young_original_that_is_swept_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(sweep_orphans, "ORPHAN_AGE_SECONDS", 0)
    assert found("I12 was removed as an orphan", STORMY)


def test_an_orphan_that_stays_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(run_pass, "sweep_orphans", lambda *_: None)
    assert found("I12 is still there after a day")


def test_a_tombstone_that_stays_is_found(monkeypatch: Plant) -> None:
    monkeypatch.setattr(treat_due_jobs, "_purge", lambda *_: Healed.OVERTAKEN)
    assert found("I12 a tombstone is still there after a day", jobs=20)
    assert found("I12 are still there after the retention", jobs=20)


def test_a_pass_that_does_not_end_is_found(monkeypatch: Plant) -> None:
    def dawdle(reconciler: Any, *_: object) -> Any:
        while True:
            reconciler.jobs.get("img_none")

    monkeypatch.setattr("tools.chaos.services.run_pass", dawdle)
    assert found("run_pass a pass did not end within 55 s", FAIR, jobs=8)


def test_every_bug_here_is_planted_in_what_is_good() -> None:
    assert all(run_seed(seed, 80).is_good for seed in (STORMY, FAIR))
