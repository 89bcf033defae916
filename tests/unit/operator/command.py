"""The command on a stage of twins: what it said, what it asked, and how it ended."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from tests.world import World
from thumbline.adapters.memory.access import MemoryAccess
from thumbline.adapters.memory.status_index import MemoryStatusIndex
from thumbline.domain.errors import FailureCode, PermanentError, TransientError
from thumbline.domain.job import Job
from tools.chaos.universe import TIMINGS
from tools.operator.__main__ import run
from tools.operator.arguments import parse
from tools.operator.console import Console
from tools.operator.stage import Stage


@dataclass
class Terminal:
    """A person who answers `reply` to every question; nobody where that is None."""

    world: World
    reply: str | None = None
    questions: list[str] = field(default_factory=list)
    tokens: MemoryAccess = field(default_factory=MemoryAccess)
    shown: str = ""
    """Standard output of the last command, of a failed one as well."""

    @property
    def stage(self) -> Stage:
        return Stage(
            label="the test stage",
            operator="arn:aws:iam::123456789012:user/ada",
            reconciler=self.world.reconciler,
            statuses=MemoryStatusIndex(self.world.tables),
            dead_letters=self.world.dead_letters,
            undelivered=self.world.undelivered,
            relay_failures=self.world.relay_failures,
            tokens=self.tokens,
        )

    def type(self, *words: str) -> str:
        """Standard output. Raises what the command raises."""
        options = parse([*words, "--local"])
        out = io.StringIO()
        console = Console(
            say=print,
            ask=None if self.reply is None else self._ask,
            as_json=bool(options.json),
            agreed=getattr(options, "yes", False),
        )
        try:
            with redirect_stdout(out):
                run(options, self.stage, console)
        finally:
            self.shown = out.getvalue()
        return self.shown

    def json(self, *words: str) -> Any:
        return json.loads(self.type(*words, "--json"))

    def _ask(self, question: str) -> str:
        self.questions.append(question)
        assert self.reply is not None
        return self.reply


def succeeded(world: World, key: str = "good") -> str:
    job_id = world.queued(b"a picture", key)
    world.work()
    return job_id


def failed_for_good(world: World, code: FailureCode, key: str) -> str:
    """FAILED on the first attempt, without a copy."""

    def refuse() -> None:
        raise PermanentError(code, "The file ends early")

    return _worked(world, key, refuse, attempts=1)


def exhausted(world: World, key: str = "bad") -> str:
    """FAILED after all attempts, its copy in the dead-letter queue."""

    def crash() -> None:
        raise TransientError(FailureCode.RENDER_CRASHED, "The renderer died")

    job_id = _worked(world, key, crash, attempts=TIMINGS.attempt_cap)
    assert world.relay().copied == 1
    return job_id


def jobs_of(world: World, job_ids: Sequence[str]) -> list[Job]:
    return [world.job(job_id) for job_id in job_ids]


def _worked(world: World, key: str, behaviour: Any, *, attempts: int) -> str:
    body = key.encode()
    job_id = world.queued(body, key)
    world.renderer.behaviours[body] = behaviour
    for _ in range(attempts):
        world.work()
        world.clock.advance(120)
    del world.renderer.behaviours[body]
    return job_id
