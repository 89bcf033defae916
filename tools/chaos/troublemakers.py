"""An operator who redrives and discards, and strangers' messages in the work queue."""

from __future__ import annotations

from thumbline.domain.dead_letters import DeadLetter
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.messages import OutgoingMessage
from thumbline.ports.queue import ReceivedMessage
from thumbline.service.redrive_job import Redriven, redrive_copy, redrive_job
from tools.chaos.days import Day
from tools.chaos.scheduler import ProcessKilledError
from tools.chaos.universe import Universe

_LAST_GENERATION = 3
"""A person gives up on a poison picture after so many lives."""
_DEEP = "[" * 100_000
"""Deeper than a parser goes."""


def start_troublemakers(universe: Universe) -> None:
    universe.spawn_visitor(lambda: _operate(universe))
    if universe.day is not Day.FAIR:
        universe.spawn_visitor(lambda: _send_strange_messages(universe))


def _operate(universe: Universe) -> None:
    while True:
        universe.scheduler.sleep(universe.chance.uniform(20_000, 90_000))
        if not universe.is_busy:
            return
        actor = universe.scheduler.current
        assert actor is not None
        actor.process = universe.weather.new_process("operator", lives_seconds=600)
        try:
            for copy in universe.dead_letters.receive(10):
                _decide(copy, universe)
            _redrive_some_failed_job(universe)
        except (DependencyUnavailableError, ProcessKilledError):
            universe.ledger.counts["operator retries"] += 1
        finally:
            actor.process = None


def _decide(copy: ReceivedMessage, universe: Universe) -> None:
    letter = DeadLetter.read(copy.body, copy.attributes)
    universe.ledger.on_copy(letter)
    if (letter.generation or 0) < _LAST_GENERATION and universe.chance.random() < 0.7:
        _redrive(copy, letter, universe)
    elif universe.chance.random() < 0.2:
        universe.dead_letters.delete(copy.receipt_handle)
        universe.ledger.counts["copies discarded"] += 1


def _redrive(copy: ReceivedMessage, letter: DeadLetter, universe: Universe) -> None:
    outcome = redrive_copy(copy, universe.redriver())
    universe.ledger.counts[f"redrive: {outcome}"] += 1
    if universe.day is Day.FAIR and copy.message_id in universe.dead_letters.messages:
        universe.ledger.violate("I9", f"the copy of {letter.job_id} is still there after its redrive")
    if outcome is Redriven.REDRIVEN and letter.generation is not None:
        row = universe.tables.rows.get(letter.job_id or "")
        if row is not None and row["generation"] != letter.generation + 1:
            universe.ledger.violate("I9", f"an old copy of {letter.job_id} redrove a later life")


def _redrive_some_failed_job(universe: Universe) -> None:
    """By id, whatever its failure was; also one that has meanwhile succeeded or was deleted."""
    job_ids = [
        job_id
        for job_id, row in universe.tables.rows.items()
        if row["status"] == "FAILED" and row["generation"] < _LAST_GENERATION
    ]
    if job_ids:
        outcome = redrive_job(universe.chance.choice(job_ids), universe.redriver())
        universe.ledger.counts[f"redrive: {outcome}"] += 1


def _send_strange_messages(universe: Universe) -> None:
    """Duplicates, messages of jobs that never were, and bodies that nobody understands."""
    while True:
        universe.scheduler.sleep(universe.chance.expovariate(1 / 10_000))
        if not universe.is_busy:
            return
        job_ids = [*universe.tables.rows, universe.ids.job_id(universe.scheduler.now)]
        job_id = universe.chance.choice(job_ids)
        body = f'{{"schema_version": 1, "job_id": "{job_id}", "object_key": "originals/{job_id}"}}'
        if universe.chance.random() < 0.1:
            body = universe.chance.choice([" ", "not JSON", "[]", _DEEP, body.replace(": 1", ": 99")])
            universe.ledger.announce_bad_message(body, job_id)
        universe.work_queue.send([OutgoingMessage(body)])
