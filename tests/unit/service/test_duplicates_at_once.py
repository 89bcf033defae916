"""Fifty clients with one key at once: one job, on the twin and through DynamoDB's transaction conflicts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World, new_job
from thumbline.adapters.aws.acceptance import DynamoDBAcceptance
from thumbline.adapters.aws.items import to_item
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.idempotency import IdempotencyRecord

DUPLICATES = 50


def test_fifty_duplicates_at_once_are_one_job_on_the_twin() -> None:
    world = World()
    with ThreadPoolExecutor(DUPLICATES) as clients:
        accepted = list(clients.map(lambda _: world.submit(), range(DUPLICATES)))

    assert {one.job_id for one in accepted} == set(world.tables.rows)
    assert sum(not one.replayed for one in accepted) == 1


class Contended:
    """A table in which another client's transaction always comes first, and then shows its record."""

    def __init__(self, holder: IdempotencyRecord, conflicts: int) -> None:
        self.holder = holder
        self.conflicts = conflicts
        self.writes = 0

    def transact_write_items(self, **_: Any) -> None:
        self.writes += 1
        reasons = [{"Code": "None"}, {"Code": "TransactionConflict"}]
        answer: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
        raise ClientError(answer, "TransactWriteItems")

    def get_item(self, **_: Any) -> dict[str, Any]:
        if self.writes < self.conflicts:
            return {}
        return {
            "Item": to_item(
                {
                    "record_id": self.holder.record_id,
                    "fingerprint": self.holder.fingerprint,
                    "job_id": self.holder.job_id,
                    "expires_at": self.holder.expires_at,
                }
            )
        }


def acceptance(table: Contended, pauses: list[float]) -> DynamoDBAcceptance:
    client: Any = table
    return DynamoDBAcceptance(client, jobs_table="j", idempotency_table="i", pause=pauses.append)


def test_whoever_loses_a_conflict_answers_with_the_winners_record_as_soon_as_it_shows() -> None:
    job = new_job(World())
    winner = IdempotencyRecord("key", "print", "img_other", job.created_at // 1000 + 100)
    table = Contended(winner, conflicts=3)
    pauses: list[float] = []

    assert acceptance(table, pauses).accept(job, winner) == winner
    assert (table.writes, len(pauses)) == (3, 3)


def test_a_conflict_with_ones_own_unheard_write_is_success() -> None:
    job = new_job(World())
    own = IdempotencyRecord("key", "print", job.job_id, job.created_at // 1000 + 100)

    assert acceptance(Contended(own, conflicts=1), []).accept(job, own) is None


def test_an_expired_record_does_not_count_in_a_conflict_either() -> None:
    job = new_job(World())
    expired = IdempotencyRecord("key", "print", "img_old", job.created_at // 1000)
    table = Contended(expired, conflicts=1)
    with pytest.raises(DependencyUnavailableError, match="TransactionConflict"):
        acceptance(table, []).accept(job, expired)
    assert table.writes == 5
