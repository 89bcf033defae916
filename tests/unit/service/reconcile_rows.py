"""Rows, messages and failure records for the reconciler, put there past every use case."""

from __future__ import annotations

import json
from typing import Any

from tests.world import World, new_job
from thumbline.domain.job import Status
from thumbline.domain.keys import Phase, shard_of
from thumbline.domain.messages import OutgoingMessage
from thumbline.domain.transitions.attempt import claim


def stored(world: World, jobs: int = 1, **changes: Any) -> list[str]:
    """Rows as they are, past every use case."""
    job_ids = []
    for _ in range(jobs):
        row = new_job(world).to_row() | changes
        world.tables.put_row(row)
        job_ids.append(row["job_id"])
    return job_ids


def ended(world: World, jobs: int) -> list[str]:
    """Terminal rows whose retention is over."""
    job_ids = stored(world, jobs, status=Status.SUCCEEDED.value, next_check_at=1)
    for job_id in job_ids:
        world.tables.put_row(world.tables.rows[job_id] | {"check_shard": shard_of(job_id, Phase.ENDED)})
    return job_ids


def running_since_now(world: World, waited_seconds: int, **changes: Any) -> str:
    """A first attempt that starts now, of a job that was available so long ago."""
    (job_id,) = stored(world, available_at=world.clock.now() - waited_seconds * 1000, **changes)
    world.tables.apply(job_id, claim(job_id, world.moment()))
    return job_id


def waiting_messages(world: World, messages: int = 1) -> None:
    for _ in range(messages):
        world.send_to_work_queue("of some job")


def relay_failure(world: World, first: int, last: int) -> None:
    world.relay_failures.send(
        [
            OutgoingMessage(
                json.dumps(
                    {
                        "DDBStreamBatchInfo": {
                            "shardId": "shard",
                            "startSequenceNumber": f"{first:021d}",
                            "endSequenceNumber": f"{last:021d}",
                            "streamArn": "arn",
                        }
                    }
                )
            )
        ]
    )
