"""Set-up makes what is missing, once, and never calls unfinished work done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.setup import __main__ as program
from tools.setup import environments
from tools.setup.errors import CommandFailedError, MissingToolsError
from tools.setup.prerequisites import Interpreter

PYTHON_311 = Interpreter("python3.11", "3.11.9")
PYTHON_313 = Interpreter("python3.13", "3.13.1")
LOCKS = (
    "requirements.txt",
    "tools/setup/requirements.txt",
    "tools/local/requirements.txt",
    "tools/fuzz_api/requirements.txt",
    "package.json",
    "package-lock.json",
    ".npmrc",
)


class Machine:
    """Stands in for all programs that set-up starts: records each, and fails those that it is told to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.actions: list[str] = []
        self.commands: list[list[str]] = []
        self.failing: set[str] = set()
        self.version = PYTHON_311.version

    def run(self, command: Sequence[str | Path], *, action: str, folder: Path) -> None:
        words = [str(word) for word in command]
        self.actions.append(action)
        self.commands.append(words)
        if action in self.failing:
            raise CommandFailedError(f"{action} failed with exit status 1")
        if "venv" in words:
            (Path(words[-1]) / "bin").mkdir(parents=True)
            (Path(words[-1]) / "bin" / "python").touch()
        if "tools/setup/requirements.txt" in words:
            (folder / ".venv" / "bin" / "uv").touch()
        if words[0] == "npm":
            (folder / "node_modules").mkdir()

    def running_interpreter(self, command: str) -> Interpreter | None:
        known = {"python3.11": PYTHON_311, "python3.13": PYTHON_313}
        if command in known:
            return known[command]
        return Interpreter(command, self.version) if Path(command).exists() else None

    def set_up(self, requested: str | None = None) -> list[str]:
        """What this run had to do."""
        self.actions.clear()
        program.set_up(self.root, requested)
        return list(self.actions)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    for lock in LOCKS:
        (tmp_path / lock).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / lock).write_text(f"contents of {lock}\n")
    fake = Machine(tmp_path)
    monkeypatch.setattr(environments, "run", fake.run)
    monkeypatch.setattr(environments, "running_interpreter", fake.running_interpreter)
    monkeypatch.setattr(
        program, "find_python", lambda requested: PYTHON_313 if requested == "python3.13" else PYTHON_311
    )
    monkeypatch.setattr(program, "check_node", lambda: "20.0.0")
    monkeypatch.setattr(program, "check_npm", lambda: None)
    return fake


def test_a_first_run_makes_everything_and_a_second_nothing(machine: Machine) -> None:
    assert machine.set_up() == [
        "making .venv",
        "installing tools/setup/requirements.txt by pip",
        "installing requirements.txt by uv",
        "making .venv-emulator",
        "installing tools/local/requirements.txt by uv",
        "making .venv-api",
        "installing tools/fuzz_api/requirements.txt by uv",
        "npm ci",
    ]
    assert machine.set_up() == []


def test_every_installation_demands_hashes_and_ready_built_wheels(machine: Machine) -> None:
    machine.set_up()

    installations = [command for command in machine.commands if "install" in command]
    assert len(installations) == 4
    for command in installations:
        assert "--require-hashes" in command
        assert {"--no-build", "--only-binary=:all:"} & set(command)


@pytest.mark.parametrize(
    ("changed", "redone"),
    [
        ("requirements.txt", "making .venv"),
        ("tools/setup/requirements.txt", "making .venv"),
        ("tools/local/requirements.txt", "making .venv-emulator"),
        ("tools/fuzz_api/requirements.txt", "making .venv-api"),
        ("package-lock.json", "npm ci"),
        (".npmrc", "npm ci"),
    ],
)
def test_a_changed_lock_renews_only_what_hangs_on_it(machine: Machine, changed: str, redone: str) -> None:
    machine.set_up()
    (machine.root / changed).write_text("something newer\n")

    done = machine.set_up()

    assert done[0] == redone
    assert len([action for action in done if action.startswith("making") or action == "npm ci"]) == 1
    assert machine.set_up() == []


@pytest.mark.parametrize("failing", ["making .venv", "making .venv-emulator", "making .venv-api", "npm ci"])
def test_a_failed_step_is_done_again_by_the_next_run(machine: Machine, failing: str) -> None:
    machine.failing = {failing}
    with pytest.raises(CommandFailedError, match=failing):
        machine.set_up()

    machine.failing = set()

    assert failing in machine.set_up()
    assert machine.set_up() == []


def test_pip_takes_over_when_uv_fails(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.failing = {"installing requirements.txt by uv"}

    assert "installing requirements.txt by pip" in machine.set_up()
    assert "setup: trying pip instead, which is slower" in capsys.readouterr().err
    assert machine.set_up() == []


def test_pip_takes_over_when_uv_cannot_be_had(machine: Machine) -> None:
    machine.failing = {"installing tools/setup/requirements.txt by pip"}

    done = machine.set_up()

    assert "installing requirements.txt by pip" in done
    assert "installing tools/local/requirements.txt by pip" in done
    assert not any(action.endswith("by uv") for action in done)


def test_an_installation_that_fails_by_both_ways_is_never_called_finished(machine: Machine) -> None:
    machine.failing = {"installing requirements.txt by uv", "installing requirements.txt by pip"}
    with pytest.raises(CommandFailedError, match="by pip failed"):
        machine.set_up()

    machine.failing = set()

    assert machine.set_up()[0] == "making .venv"


def test_another_requested_python_makes_a_new_environment(machine: Machine) -> None:
    machine.set_up()

    assert machine.set_up("python3.11") == []

    done = machine.set_up("python3.13")
    machine.version = PYTHON_313.version

    assert done[0] == "making .venv"
    assert "making .venv-emulator" in done
    assert [command[0] for command in machine.commands if command[-1].endswith("/.venv")][1:] == [
        "python3.13"
    ]
    assert machine.set_up("python3.13") == []
    assert machine.set_up() == [], "the environment is kept as it was made"


def test_an_environment_whose_python_is_gone_is_made_again(machine: Machine) -> None:
    machine.set_up()
    (machine.root / ".venv" / "bin" / "python").unlink()

    assert machine.set_up()[0] == "making .venv"


def test_a_project_that_was_moved_gets_new_environments(machine: Machine, tmp_path: Path) -> None:
    machine.set_up()
    moved = tmp_path.parent / f"{tmp_path.name} moved"
    machine.root = tmp_path.rename(moved)

    assert machine.set_up()[0] == "making .venv"


def test_every_missing_tool_is_named_before_anything_is_made(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> str:
        raise MissingToolsError("this tool is missing")

    for check in ("find_python", "check_node", "check_npm"):
        monkeypatch.setattr(program, check, missing)

    with pytest.raises(MissingToolsError) as caught:
        machine.set_up()

    assert str(caught.value).splitlines() == ["this tool is missing"] * 3
    assert machine.actions == []
