"""Clients: they submit, retry with the same key until they are answered, double-click, change their minds."""

from __future__ import annotations

from functools import partial

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.service.accept_image import (
    Accepted,
    IdempotencyKeyReusedError,
    Submission,
    accept_image,
)
from thumbline.service.delete_job import delete_job
from thumbline.service.read_job import JobGoneError, JobNotFoundError, read_job
from tools.chaos.pictures import picture
from tools.chaos.scheduler import ProcessKilledError
from tools.chaos.universe import FAULTY_MS, Universe

_INGEST_SECONDS = 25
_DELETING = 0.06
_DOUBLE = 0.05
_REUSING = 0.05
_HURRIED = 0.15
_HURRIED_SECONDS = (10, 60, 600)
"""Deadlines that a busy queue, a retry or an outage does not keep."""
_CLIENTS = 8


def start_clients(universe: Universe, jobs: int) -> None:
    """Together they submit `jobs` pictures in the first half of the faulty time."""
    for client in range(_CLIENTS):
        share = jobs // _CLIENTS + (client < jobs % _CLIENTS)
        universe.spawn_visitor(_Client(universe, client, share).run)


class _Client:
    def __init__(self, universe: Universe, number: int, share: int) -> None:
        self._universe = universe
        self._number = number
        self._share = share
        self._owner = f"owner-{number % 3}"

    def run(self) -> None:
        universe = self._universe
        for number in range(self._share):
            universe.scheduler.sleep(universe.chance.expovariate(1) * FAULTY_MS / 2 / self._share)
            submission = Submission(
                owner=self._owner,
                idempotency_key=f"{self._number}-{number}",
                content_type="image/jpeg",
                body=picture(universe.chance, self._number * 1_000_000 + number, universe.day),
                presets=(DEFAULT_PRESET,),
                deadline_seconds=self._deadline_seconds(),
            )
            if universe.chance.random() < _DOUBLE:
                universe.spawn_visitor(partial(self._submit, submission))
            self._submit(submission)

    def _deadline_seconds(self) -> int | None:
        """None is the stage's."""
        chance = self._universe.chance
        return chance.choice(_HURRIED_SECONDS) if chance.random() < _HURRIED else None

    def _submit(self, submission: Submission) -> None:
        """Until there is an answer that is not a 5xx."""
        universe = self._universe
        while True:
            try:
                accepted = self._post(submission)
            except (DependencyUnavailableError, ProcessKilledError):
                universe.ledger.counts["client retries"] += 1
                universe.scheduler.sleep(universe.chance.uniform(500, 20_000))
            except JobGoneError:
                return
            else:
                break
        if accepted.replayed:
            universe.ledger.counts["replays"] += 1
        universe.ledger.on_answer(accepted.job_id, submission.owner, submission.idempotency_key)
        self._read_as_a_stranger(accepted.job_id)
        if universe.chance.random() < _REUSING:
            self._reuse_key(submission)
        if universe.chance.random() < _DELETING:
            delay_ms = round(universe.chance.expovariate(1 / 60_000))
            universe.spawn_visitor(partial(self._delete, accepted.job_id), delay_ms)

    def _post(self, submission: Submission) -> Accepted:
        actor = self._universe.scheduler.current
        assert actor is not None
        actor.process = self._universe.weather.new_process("ingest", lives_seconds=_INGEST_SECONDS)
        try:
            return accept_image(submission, self._universe.acceptance())
        finally:
            actor.process = None

    def _reuse_key(self, submission: Submission) -> None:
        """Another picture under a key that was answered: 422, and nothing changes (I6)."""
        other = Submission(
            owner=submission.owner,
            idempotency_key=submission.idempotency_key,
            content_type=submission.content_type,
            body=submission.body + b" other",
            presets=submission.presets,
        )
        try:
            self._post(other)
        except (DependencyUnavailableError, ProcessKilledError, IdempotencyKeyReusedError):
            return
        self._universe.ledger.violate("I6", f"key {submission.idempotency_key} accepted two pictures")

    def _read_as_a_stranger(self, job_id: str) -> None:
        try:
            read_job(job_id, "stranger", self._universe.tables)
        except (JobNotFoundError, DependencyUnavailableError):
            return
        self._universe.ledger.violate("I14", f"a stranger read {job_id}")

    def _delete(self, job_id: str) -> None:
        universe = self._universe
        actor = universe.scheduler.current
        assert actor is not None
        universe.ledger.announce_delete(job_id)
        while True:
            actor.process = universe.weather.new_process("delete", lives_seconds=_INGEST_SECONDS)
            try:
                delete_job(job_id, self._owner, universe.deletion())
            except (DependencyUnavailableError, ProcessKilledError):
                actor.process = None
                universe.scheduler.sleep(universe.chance.uniform(500, 20_000))
            except (JobGoneError, JobNotFoundError):
                break
            else:
                break
        universe.ledger.on_delete_answered(job_id)
