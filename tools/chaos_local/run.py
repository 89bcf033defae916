"""One run: pictures flow from several clients while processes die; then everything is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tools.chaos_local.passes import Passes
from tools.chaos_local.pictures import Picture, pictures
from tools.chaos_local.points import Hunter, Point
from tools.chaos_local.verdict import Outcome, check_balance, check_dead_letters, end_of, job_id_of
from tools.chaos_local.view import RECONCILER, RELAY, WORKER, View
from tools.client import ImageApi
from tools.demo.pictures import SAMPLE
from tools.local.state import StackState
from tools.soak.assassin import Assassin, kills_among
from tools.soak.crowd import Crowd

_BASE_PATIENCE_SECONDS = 400.0
"""Two of the local queue's visibility timeouts: who dies before its first claim has shortened nothing."""
_PATIENCE_SECONDS_PER_JOB = 3.0
_WARMING_SECONDS = 15.0
"""A killed worker's lease on the local stage, and a cold start."""
_JOBS_PER_ROUND = 100
_SHARES = {WORKER: 1, RELAY: 3, RECONCILER: 5}
"""One random kill of the relay for three of a worker, one of the reconciler for five."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    jobs: int
    clients: int
    seed: int


def run(state: StackState, plan: Plan, say: Callable[[str], None]) -> Outcome:
    """Raises nothing for a lost or stuck job: it is counted, and explained in a line of its own."""
    view = View(state)
    patience_seconds = _BASE_PATIENCE_SECONDS + _PATIENCE_SECONDS_PER_JOB * plan.jobs
    with (
        ImageApi(state.url, connections=plan.clients) as api,
        Crowd(api, clients=plan.clients, patience_seconds=patience_seconds) as crowd,
        Passes(view),
        ExitStack() as killers,
    ):
        hunter = killers.enter_context(
            Hunter(view, rounds=max(1, plan.jobs // _JOBS_PER_ROUND), seed=plan.seed)
        )
        assassins = {output: _assassin(output, state, plan, view) for output in _SHARES}
        for assassin in assassins.values():
            killers.enter_context(assassin)
        outcome = _flow(crowd, view, plan, hunter, say)
    outcome.points = len(hunter.hits)
    outcome.kills = hunter.kills + sum(assassin.kills for assassin in assassins.values())
    for output, assassin in assassins.items():
        say(f"  killed at random, {output.removesuffix('FunctionName')}: {assassin.kills}")
    for point in Point:
        say(f"  killed at a point, {point}: {hunter.hits[point]}")
    for fault in outcome.faults:
        say(f"  {fault}")
    return outcome


def _assassin(output: str, state: StackState, plan: Plan, view: View) -> Assassin:
    return Assassin(
        state.outputs[output],
        Path(state.run),
        budget=max(1, kills_among(plan.jobs) // _SHARES[output]),
        seed=plan.seed,
        # The emulator ends a killed worker's siblings, too: during their cold start that would only hide
        # their messages for a whole visibility timeout.
        ripe=lambda: view.is_warm(output),
    )


def _flow(crowd: Crowd, view: View, plan: Plan, hunter: Hunter, say: Callable[[str], None]) -> Outcome:
    outcome = Outcome()
    since, began, copies = view.now(), time.monotonic(), view.copies()
    accepted: set[str] = set()
    for wave in _waves(plan, view, hunter):
        delivered = crowd.deliver(wave, lambda picture: picture.photo)
        outcome.faults += [f"refused: {refusal}" for refusal in delivered.refusals]
        outcome.accepted += len(delivered.accepted)
        accepted |= {job_id_of(url) for url in delivered.accepted}
        say(f"  {outcome.accepted} accepted after {time.monotonic() - began:.1f} s")
        for ending, fault in crowd.each(
            lambda url, picture: end_of(url, picture, crowd, view), delivered.accepted
        ):
            outcome.count(ending, fault)
    say(f"  all looked at after {time.monotonic() - began:.1f} s")
    outcome.faults += check_balance(accepted, since, view) + check_dead_letters(copies, view.copies())
    return outcome


def _waves(plan: Plan, view: View, hunter: Hunter) -> Iterator[list[Picture]]:
    """A few at a time while the hunter hunts, for workers that can be hunted; then all the others.

    On a fast machine all would be done before there was anything to kill.
    """
    rest = pictures(SAMPLE, plan.jobs, plan.seed)
    while not hunter.is_over and (wave := list(islice(rest, plan.clients))):
        yield wave
        _wait_until_warm(view, hunter)
    yield list(rest)


def _wait_until_warm(view: View, hunter: Hunter) -> None:
    """Or until a new worker should have come: whoever held the last message may have been killed."""
    deadline = time.monotonic() + _WARMING_SECONDS
    while not (view.is_warm(WORKER) or hunter.is_over) and time.monotonic() < deadline:
        time.sleep(0.2)
