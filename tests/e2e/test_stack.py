"""The stack as its owner sees it, and what survives the loss of a worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import CLIENTS, PATIENCE_SECONDS
from tools.client import ImageApi
from tools.demo.pictures import SAMPLE
from tools.local.errors import AlreadyRunningError
from tools.local.paths import Paths
from tools.local.stack import Stack, running_stack, started_stack
from tools.local.state import ready_state
from tools.soak.assassin import Assassin
from tools.soak.photos import photos
from tools.soak.run import Soak


def test_the_running_stack_is_found_and_a_second_one_refused(stack: Stack, paths: Paths) -> None:
    assert ready_state(paths.state_file).url == stack.url
    with running_stack(paths) as found:
        assert found.url == stack.url
    with (
        pytest.raises(AlreadyRunningError, match=f"already running at {stack.url} "),
        started_stack(paths, any_port=True),
    ):
        pass


def test_killing_a_worker_loses_no_job(api: ImageApi, stack: Stack) -> None:
    soak = Soak(api, print, clients=CLIENTS // 4, patience_seconds=2 * PATIENCE_SECONDS)
    function_name = stack.state.outputs["ThumbnailWorkerFunctionName"]
    with Assassin(function_name, Path(stack.state.run), budget=1, seed=1) as assassin:
        outcome = soak.run(photos(SAMPLE, 20, seed=1))

    outcome.kills = assassin.kills
    assert str(outcome) == "soak: 20 accepted, 20 succeeded, 0 failed, 1 kills, 0 lost"
