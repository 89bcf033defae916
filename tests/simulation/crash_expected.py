"""What a cell must come to: the job's end, its objects and its copies, to the letter."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tests.simulation.crash_world import CrashWorld
from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.errors import FailureCode
from thumbline.domain.job import Job
from tools.chaos.universe import TIMINGS

OPERATOR = "operator"


class Strike(StrEnum):
    KILL_BEFORE = "kill before"
    KILL_AFTER = "kill after"
    UNKNOWN = "unknown outcome"
    PAUSE = "pause beyond the lease"
    DUPLICATE = "duplicate"


Struck = tuple[str, Strike]
"""The operation that was struck, and how."""


class End(NamedTuple):
    """How a job ends. `code` is a failed one's."""

    status: str
    code: FailureCode | None = None

    def __str__(self) -> str:
        return self.status if self.code is None else f"{self.status} {self.code}"


GONE = End("gone")
SUCCEEDED = End("SUCCEEDED")


def failed(code: FailureCode) -> End:
    return End("FAILED", code)


EXHAUSTED = failed(FailureCode.ATTEMPTS_EXHAUSTED)


class Copy(NamedTuple):
    """What an operator finds in the dead-letter queue. `generation` is None where the message named none."""

    generation: int | None
    code: FailureCode


EXHAUSTED_COPY = Copy(1, FailureCode.ATTEMPTS_EXHAUSTED)
REJECTED_COPY = Copy(None, FailureCode.BAD_MESSAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One scenario's outcome, and the cells whose outcome differs from it."""

    end: End
    copy: Copy | None = None
    """The one kind of copy there is; None where there must be none."""
    redriven: bool = False
    succeeds: frozenset[Struck] = frozenset()
    """Where a good message of the job was faster, so that it succeeds."""
    copied_twice: frozenset[Struck] = frozenset()
    """Where the sender dies after its copy was sent, or two send it: at least once means twice here."""
    orphaned: frozenset[Struck] = frozenset()
    """Where an original without a row is left for the orphan sweep."""

    def end_of(self, struck: Struck) -> End:
        return SUCCEEDED if struck in self.succeeds else self.end


def check(world: CrashWorld, expected: Expected, struck: Struck) -> int:
    """How many copies there are. Raises AssertionError where anything is not as expected."""
    end = expected.end_of(struck)
    copies = _copies(world)
    rows = world.tables.rows
    if end == GONE:
        assert not rows
        assert not world.objects.objects, "objects outlive their job"
        assert not copies
        return 0
    ((job_id, row),) = rows.items()
    job = Job.from_row(row)
    assert End(row["status"], None if job.failure is None else job.failure.code) == end
    assert [_unstamped(entry) for entry in job.trace] == _trace(expected)
    assert job.generation == 1 + len(job.trace)
    assert sorted(job.results) == (sorted(preset.name for preset in job.presets) if end == SUCCEEDED else [])
    _check_objects(world, job, orphans=struck in expected.orphaned)
    if expected.copy is None:
        assert not copies
        return 0
    count = 2 if struck in expected.copied_twice else 1
    assert copies == {(job_id, *expected.copy): count}
    return count


def _trace(expected: Expected) -> list[dict[str, Any]]:
    return [{"event": "redrive", "by": OPERATOR, "generation": 2}] if expected.redriven else []


def _unstamped(entry: Any) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "at"}


def _check_objects(world: CrashWorld, job: Job, *, orphans: int) -> None:
    objects = world.objects.objects
    for result in job.results.values():
        assert hashlib.sha256(objects[result.key].data).hexdigest() == result.sha256
    others = objects.keys() - {job.object_key, *(result.key for result in job.results.values())}
    assert job.object_key in objects
    assert len(others) == orphans
    assert all(key.startswith("originals/") for key in others)


def _copies(world: CrashWorld) -> Counter[tuple[str | None, int | None, str]]:
    """Each says all that a person needs."""
    letters = [
        DeadLetter.read(
            stored.message.body, {name: str(value) for name, value in stored.message.attributes.items()}
        )
        for stored in world.dead_letters.messages.values()
    ]
    for letter in letters:
        assert letter.reason
        assert letter.first_seen is not None
        if letter.code == FailureCode.ATTEMPTS_EXHAUSTED:
            assert letter.attempts == TIMINGS.attempt_cap
            assert letter.last_error
    return Counter((letter.job_id, letter.generation, letter.code) for letter in letters)
