"""Set-up judges the tools of a machine by running them, and says what to do about each that fails."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tools.setup.errors import MissingToolsError
from tools.setup.prerequisites import check_node, check_npm, find_python, running_interpreter

RUNNING_VERSION = "{}.{}.{}".format(*sys.version_info[:3])


class FakePath:
    """A folder that is the whole PATH; programs are put into it as shell scripts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, script: str) -> str:
        program = self.folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return str(program)

    def put_working_python(self, name: str) -> None:
        self.put(name, f'exec {shlex.quote(sys.executable)} "$@"')


@pytest.fixture
def fake_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePath:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return FakePath(folder)


def test_the_newest_supported_python_is_preferred(fake_path: FakePath) -> None:
    fake_path.put_working_python("python3")
    fake_path.put_working_python("python3.12")
    fake_path.put_working_python("python3.13")

    assert find_python(None).command == "python3.13"


def test_a_shim_that_exists_but_fails_is_skipped(fake_path: FakePath) -> None:
    fake_path.put("python3.13", "echo 'python3.13: command not found' >&2; exit 127")
    fake_path.put_working_python("python3.11")

    found = find_python(None)

    assert (found.command, found.version) == ("python3.11", RUNNING_VERSION)


def test_a_requested_python_is_never_replaced_by_another(fake_path: FakePath) -> None:
    fake_path.put_working_python("python3")
    broken = fake_path.put("mine", "exit 1")

    with pytest.raises(MissingToolsError, match="mine is missing or does not run"):
        find_python(broken)


def test_a_python_that_is_too_old_is_named_with_its_version(fake_path: FakePath) -> None:
    fake_path.put("python3", "echo 3.9.18")

    with pytest.raises(MissingToolsError, match=r"python3 is 3\.9\.18.*install python3 and python3-venv"):
        find_python(None)


def test_a_python_without_ensurepip_names_the_package_that_brings_it(fake_path: FakePath) -> None:
    fake_path.put("python3", 'case "$*" in *ensurepip*) exit 1;; esac; echo 3.12.1')

    with pytest.raises(MissingToolsError, match=r"install python3\.12-venv"):
        find_python(None)


def test_a_variable_of_the_caller_does_not_mislead_the_probe(
    fake_path: FakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_path.put("python3", 'test -z "$PYTHONHOME" && echo 3.12.1')
    monkeypatch.setenv("PYTHONHOME", "/nowhere")

    found = running_interpreter("python3")

    assert found is not None
    assert found.minor_version == "3.12"


@pytest.mark.parametrize("version", ["v20.0.0", "v24.11.1"])
def test_node_is_accepted_from_20_on(fake_path: FakePath, version: str) -> None:
    fake_path.put("node", f"echo {version}")

    assert f"v{check_node()}" == version


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (None, "node is missing or does not run"),
        ("exit 1", "node is missing or does not run"),
        ("echo v18.20.4", r"node is v18\.20\.4; install Node\.js 20 or newer"),
        ("echo nonsense", "node is nonsense; install"),
    ],
)
def test_a_missing_broken_or_old_node_is_named(
    fake_path: FakePath, script: str | None, sentence: str
) -> None:
    if script:
        fake_path.put("node", script)

    with pytest.raises(MissingToolsError, match=sentence):
        check_node()


def test_a_missing_npm_is_named(fake_path: FakePath) -> None:
    with pytest.raises(MissingToolsError, match="npm is missing"):
        check_npm()

    fake_path.put("npm", "echo 11.0.0")
    check_npm()
