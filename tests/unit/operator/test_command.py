"""The command as a program: one sentence and a status for everything that can be missing."""

from __future__ import annotations

import io
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.deploy.fakes import FakeClient, FakeSession, refusal
from tests.unit.operator.command import Terminal, exhausted
from tests.world import World
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.settings import ReconcilerSettings
from tools.chaos.universe import TIMINGS
from tools.operator import __main__ as program
from tools.operator.console import duration
from tools.operator.errors import OperatorError
from tools.operator.stage import open_deployed
from tools.setup.operator_command import COMMAND, install_operator_command

SETTINGS = ReconcilerSettings(
    jobs_table="jobs",
    bucket="bucket",
    work_queue_url="https://sqs/work",
    undelivered_queue_url="https://sqs/undelivered",
    relay_failure_queue_url="https://sqs/relay-failures",
    timings=TIMINGS,
    max_jobs_per_run=500,
    stage="dev",
)


class Session(FakeSession):
    """Answers for every service; the clients' options do not matter."""

    def client(self, _service: str, **_options: Any) -> FakeClient:
        return super().client(_service)


def deployed(variables: dict[str, str], **answers: Any) -> Session:
    outputs = {
        "JobReconcilerFunctionName": "reconciler",
        "DeadLetterQueueUrl": "https://sqs/dead",
        "AccessTableName": "access",
    }
    return Session(
        {
            "describe_stacks": {
                "Stacks": [
                    {"Outputs": [{"OutputKey": key, "OutputValue": it} for key, it in outputs.items()]}
                ]
            },
            "get_function_configuration": {"Environment": {"Variables": variables}},
            **answers,
        }
    )


def opened(session: Session) -> Any:
    return open_deployed("dev", session)  # type: ignore[arg-type]


def test_a_deployed_stage_is_known_by_its_outputs_and_its_functions_settings() -> None:
    session = deployed(SETTINGS.to_env())
    stage = opened(session)

    assert stage.label == "Thumbline-Dev (account 123456789012, eu-central-1)"
    assert stage.operator == "arn:aws:iam::123456789012:user/ada"
    assert stage.reconciler.timings == TIMINGS
    assert ("get_function_configuration", {"FunctionName": "reconciler"}) in session.calls


@pytest.mark.parametrize(
    ("session", "sentence"),
    [
        (Session(credentials=None), "There are no AWS credentials"),
        (
            Session({"get_caller_identity": refusal("ExpiredToken")}),
            r"refuses the credentials \(ExpiredToken",
        ),
        (
            Session({"describe_stacks": refusal("ValidationError")}),
            "There is no stack Thumbline-Dev in account 123456789012, eu-central-1",
        ),
        (Session(), "runs another version than this one, or none: 'JobReconcilerFunctionName'"),
        (deployed({}), "runs another version than this one, or none: THUMBLINE_JOBS_TABLE is not set"),
        (
            deployed({}, get_function_configuration=refusal("AccessDeniedException")),
            r"settings cannot be read from Thumbline-Dev .*\(AccessDeniedException\)",
        ),
    ],
)
def test_what_is_missing_is_one_sentence(session: Session, sentence: str) -> None:
    with pytest.raises(OperatorError, match=sentence) as raised:
        opened(session)
    assert "\n" not in str(raised.value)


def test_no_local_stack_is_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--local", "dlq", "list"], state_file=tmp_path / "state.json") == 1
    assert capsys.readouterr().err == "No local stack is running: start one with `make local`.\n"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A stage of twins for the whole program, with nobody at the terminal."""
    world = World()
    monkeypatch.setattr(program, "_open", lambda *_: Terminal(world).stage)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return world


def test_a_change_that_nobody_confirms_is_status_3(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    job_id = exhausted(world)

    assert program.main(["--local", "redrive", job_id]) == 3
    assert "give --yes to do it unasked" in capsys.readouterr().err
    assert program.main(["--local", "redrive", job_id, "--yes"]) == 0
    assert world.job(job_id).generation == 2
    assert program.main(["--local", "redrive", job_id, "--yes"]) == 1


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (DependencyUnavailableError("dynamodb", "AccessDeniedException"), 1, "AWS did not do its part"),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
@pytest.mark.usefixtures("world")
def test_failures_in_between_are_a_sentence(
    error: BaseException,
    status: int,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(program, "list_copies", fail)

    assert program.main(["--local", "dlq", "list"]) == status
    assert sentence in capsys.readouterr().err


def test_the_installed_script_runs_the_projects_sources_from_anywhere(tmp_path: Path) -> None:
    root = tmp_path / "a project's folder"
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$PYTHONPATH" "$@"\n')
    python.chmod(0o755)

    install_operator_command(root)
    script = root / COMMAND
    made = script.stat()
    install_operator_command(root)

    assert stat.S_IMODE(made.st_mode) == 0o755
    assert script.stat().st_ino == made.st_ino, "an unchanged script is left alone"
    finished = subprocess.run([script, "jobs", "a b"], cwd="/", capture_output=True, text=True, check=True)
    assert finished.stdout.splitlines() == [
        f"{root}:{root}/layers/core/python",
        *("-P", "-m", "tools.operator"),
        *("jobs", "a b"),
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (119, "119 s"), (120, "2 min"), (7_500, "2 h 5 min"), (273_600, "3 d 4 h")],
)
def test_durations_are_short(seconds: int, text: str) -> None:
    assert duration(seconds * 1000) == text
