"""The set-up as a person starts it: one sentence for each fault, never a traceback, stdout left alone."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what set-up needs, with nothing made yet."""
    copy = tmp_path / "a project"
    shutil.copytree(ROOT / "tools" / "setup", copy / "tools" / "setup")
    shutil.copy(ROOT / "tools" / "__init__.py", copy / "tools")
    for lock in (
        "requirements.txt",
        "tools/local/requirements.txt",
        "package.json",
        "package-lock.json",
        ".npmrc",
    ):
        (copy / lock).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / lock, copy / lock)
    return copy


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def start(project: Path, path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [project / "tools" / "setup" / "start.sh"],
        cwd=project,
        env={"PATH": str(path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_missing_npm_is_one_sentence_and_makes_nothing(project: Path, bin_folder: Path) -> None:
    put(bin_folder, "python3", f'exec {shlex.quote(sys.executable)} "$@"')
    put(bin_folder, "node", "echo v20.1.0")

    run = start(project, bin_folder)

    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr == "setup: npm is missing or does not run; install it (Debian: npm)\n"
    assert not (project / ".venv").exists()


def test_all_missing_tools_are_named_at_once(project: Path, bin_folder: Path) -> None:
    put(bin_folder, "python3", f'exec {shlex.quote(sys.executable)} "$@"')

    run = start(project, bin_folder, PYTHON="/nowhere/python3")

    lines = run.stderr.splitlines()
    assert run.returncode == 1
    assert len(lines) == 3
    assert "/nowhere/python3 is missing or does not run" in lines[0]
    assert lines[1].startswith("setup: node is missing")
    assert lines[2].startswith("setup: npm is missing")


def test_without_any_working_python_the_package_is_named(project: Path, bin_folder: Path) -> None:
    put(bin_folder, "python3", "exit 127")

    run = start(project, bin_folder)

    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith(
        "setup: no working Python 3.11 or newer was found; install one (Debian: apt-get"
    )
    assert len(run.stderr.splitlines()) == 1


def test_a_broken_first_python_does_not_stop_the_search(project: Path, bin_folder: Path) -> None:
    put(bin_folder, "python3", "exit 127")
    put(bin_folder, "python3.12", f'exec {shlex.quote(sys.executable)} "$@"')

    run = start(project, bin_folder)

    assert "Python" not in run.stderr
    assert "node is missing" in run.stderr


def test_what_a_failing_program_said_is_shown(project: Path, bin_folder: Path) -> None:
    version = "{}.{}.{}".format(*sys.version_info[:3])
    put(
        bin_folder,
        "python3.13",
        f'case "$*" in *"-m venv"*) echo "disk is full"; exit 3;; esac; echo {version}',
    )
    put(bin_folder, "python3", f'exec {shlex.quote(sys.executable)} "$@"')
    put(bin_folder, "node", "echo v20.1.0")
    put(bin_folder, "npm", "echo 11.0.0")

    run = start(project, bin_folder)

    assert run.returncode == 1
    assert run.stderr.splitlines()[-2:] == [
        "setup: making .venv failed with exit status 3",
        "setup:   | disk is full",
    ]
