"""The command line: what is no command is refused with a sentence, before anything is opened."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pytest

from thumbline.domain.job import Status
from thumbline.domain.keys import job_id
from tools.operator.arguments import age_seconds, parse, per_second

JOB = job_id(0, 1)


@pytest.mark.parametrize(
    "words",
    [
        ("--local", "--json", "jobs", "show", JOB),
        ("jobs", "show", JOB, "--local", "--json"),
        ("--json", "jobs", "show", JOB, "--local"),
    ],
)
def test_options_may_stand_before_or_after_the_command(words: Sequence[str]) -> None:
    options = parse(list(words))

    assert (options.local, options.json, options.job_id) == (True, True, JOB)


def test_a_stage_is_named_once() -> None:
    assert parse(["--stage", "dev", "jobs", "list", "--status", "queued"]).status is Status.QUEUED


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["jobs", "show", JOB], "one of --stage NAME and --local"),
        (["--local", "--stage", "dev", "dlq", "list"], "one of --stage NAME and --local"),
        (["--stage", "test", "dlq", "list"], "invalid choice: 'test'"),
        (["--local"], "required: COMMAND"),
        (["--local", "jobs"], "required: ACTION"),
        (["--local", "jobs", "show", "img_1"], "'img_1' is no job's id"),
        (["--local", "jobs", "list", "--status", "done"], "QUEUED, RUNNING, SUCCEEDED, FAILED"),
        (["--local", "jobs", "list", "--status", "FAILED", "--limit", "0"], "no whole number above 0"),
        (["--local", "redrive"], "redrive what?"),
        (["--local", "redrive", JOB, "--code", "expired"], "redrive what?"),
        (["--local", "redrive", "--code", "deleted"], "invalid choice: 'deleted'"),
        (["--local", "redrive", "--older-than", "2 hours"], "write 90s, 15m, 2h or 3d"),
        (["--local", "redrive", JOB, "--pace", "0/s"], "write 5/s or 0.5/s"),
        (["--local", "reconcile"], "required: --dry-run"),
        (["--local", "dlq", "discard"], "required: ID"),
    ],
)
def test_what_is_no_command_ends_with_status_2(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(words)

    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_ages_and_paces_have_units() -> None:
    assert [age_seconds(text) for text in ("90s", "15m", "2h", "3d")] == [90, 900, 7200, 259_200]
    assert [per_second(text) for text in ("5/s", "0.5/s", "20")] == [5, 0.5, 20]
    with pytest.raises(argparse.ArgumentTypeError):
        age_seconds("-5m")
