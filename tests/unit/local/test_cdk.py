"""Outputs and complaints of the CDK command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.local.assembly import Assembly
from tools.local.cdk import Cdk, last_complaint, read_outputs
from tools.local.errors import LocalStackError
from tools.local.ledger import Ledger
from tools.local.paths import Paths


def test_outputs_of_all_stacks_are_one_mapping(tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    file.write_text('{"One": {"ApiId": "a"}, "Two": {"ApiUrl": "u"}}')
    assert read_outputs(file) == {"ApiId": "a", "ApiUrl": "u"}


def test_missing_outputs_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match="has no outputs"):
        read_outputs(tmp_path / "outputs.json")


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("thumbline: the lock file is missing\n", "thumbline: the lock file is missing"),
        ("TypeError: no\npython app.py: Subprocess exited with error 1\n", "TypeError: no"),
        ("thumbline: no wheel\npython app.py: Subprocess exited with error 1\n", "thumbline: no wheel"),
        (
            "S | 1/9 | 9:21 | CREATE_FAILED | AWS::X | Alarm/Old (Old1) Metrics is not supported.\n"
            "S | 1/9 | 9:21 | ROLLBACK_COMPLETE | AWS::Stack | S Rollback complete\n"
            "DeploymentError: Resource updates failed:\n",
            "Alarm/Old (Old1) Metrics is not supported.",
        ),
        ("", "it said nothing."),
    ],
)
def test_the_complaint_is_the_last_line_that_is_one(tmp_path: Path, log: str, expected: str) -> None:
    file = tmp_path / "cdk.log"
    file.write_text(log)
    assert last_complaint(file) == expected


def test_a_missing_command_line_says_what_to_run(tmp_path: Path) -> None:
    paths = Paths(tmp_path, tmp_path / "state")
    with pytest.raises(LocalStackError, match="run `make setup`"):
        Cdk(paths, Ledger(paths)).bootstrap(Assembly(tmp_path), "http://127.0.0.1:1", watch=lambda: None)
