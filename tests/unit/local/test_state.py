"""The state file, as those who only look at it see it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tools.local.errors import NotReadyError
from tools.local.processes import ProcessIdentity, identify
from tools.local.state import StackState, read_state, ready_state


@pytest.fixture
def state() -> StackState:
    owner = identify(os.getpid())
    assert owner is not None
    return StackState(owner, "http://127.0.0.1:1/v1", True, "http://127.0.0.1:2", "/run", {"ApiId": "a"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "local" / "state.json"


def test_what_is_written_is_read(state: StackState, file: Path) -> None:
    state.write(file)
    assert read_state(file) == state
    assert ready_state(file) == state


def test_nothing_but_the_file_itself_is_left_in_the_folder(state: StackState, file: Path) -> None:
    state.write(file)
    state.write(file)
    assert [path.name for path in file.parent.iterdir()] == ["state.json"]


def test_the_state_of_a_dead_process_is_none(state: StackState, file: Path) -> None:
    replace(state, owner=ProcessIdentity(2**22 + 1, "1", ("python",))).write(file)
    assert read_state(file) is None


def test_a_process_that_only_inherited_the_pid_is_not_the_owner(state: StackState, file: Path) -> None:
    replace(state, owner=replace(state.owner, started="0")).write(file)
    assert read_state(file) is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"owner": {"pid": 1}}'])
def test_a_broken_file_is_none(file: Path, content: str) -> None:
    file.parent.mkdir()
    file.write_text(content)
    assert read_state(file) is None


def test_a_stack_that_is_starting_is_not_ready(state: StackState, file: Path) -> None:
    replace(state, ready=False).write(file)
    with pytest.raises(NotReadyError, match="still starting"):
        ready_state(file)


def test_no_stack_is_not_ready(file: Path) -> None:
    with pytest.raises(NotReadyError, match=r"No local stack is running: start one with `make local`\."):
        ready_state(file)
