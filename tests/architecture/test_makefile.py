"""The commands whose names others rely on: documented, quiet where scripts read them, safe with odd names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {
    "help", "setup", "demo", "local", "local-url", "test", "check", "lint", "types", "imports", "soak",
    "chaos", "chaos-local", "modelcheck", "mutants", "corpus", "fuzz-images", "quality", "fuzz-api", "audit",
    "openapi", "crash-matrix", "synth", "deploy", "destroy", "smoke", "cost", "golden", "lock", "clean",
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The Makefile with a set-up, a Python and a CDK that tell how they were called."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for program in (
        "tools/setup/start.sh",
        ".venv/bin/python",
        ".venv/bin/lint-imports",
        ".venv-api/bin/pip-audit",
        "node_modules/.bin/cdk",
    ):
        file = tmp_path / program
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('#!/bin/sh\nfor word; do printf "<%s>" "$word"; done; echo\n')
        file.chmod(0o755)
    (tmp_path / "tools/setup/start.sh").write_text("#!/bin/sh\necho 'set up' >&2\n")
    return tmp_path


def make(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=project,
        env=inherited,
        capture_output=True,
        text=True,
        check=True,
    )


def test_help_lists_every_target() -> None:
    listed = {line.split()[0] for line in make(ROOT, "help").stdout.splitlines()}
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert listed == TARGETS
    assert phony is not None
    assert set(phony[1].split()) == TARGETS


def test_help_is_what_make_alone_says() -> None:
    assert make(ROOT).stdout == make(ROOT, "help").stdout


@pytest.mark.parametrize("target", sorted(TARGETS - {"help", "clean"}))
def test_every_target_sets_up_first(project: Path, target: str) -> None:
    assert make(project, target).stderr.splitlines() == ["set up"]


def test_help_and_clean_need_no_set_up(project: Path) -> None:
    assert make(project, "help", "clean").stderr == ""
    assert {file.name for file in project.iterdir()} == {"Makefile", "tools"}


@pytest.mark.parametrize(
    ("words", "called"),
    [
        (["demo"], "<-m><tools.demo>"),
        (["local"], "<-m><tools.local><up>"),
        (["local-url"], "<-m><tools.local><url>"),
        (["test"], "<-m><pytest><--numprocesses><2><--dist><loadscope><--no-loadscope-reorder>"),
        (["soak"], "<-m><tools.soak><--jobs><200><--clients><8>"),
        (["soak", "N=5", "CLIENTS=2", "KILL=1"], "<-m><tools.soak><--jobs><5><--clients><2><--kill>"),
        (["chaos", "SEEDS=1", "JOBS=9", "SEED0=7"], "<-m><tools.chaos><--seeds><1><--jobs><9><--seed0><7>"),
        (["mutants"], "<-m><tools.mutants>"),
        (["soak", "KILL=0"], "<-m><tools.soak><--jobs><200><--clients><8>"),
        (["chaos-local"], "<-m><tools.chaos_local><--jobs><300><--clients><8>"),
        (
            ["chaos-local", "JOBS=40", "SEED=7"],
            "<-m><tools.chaos_local><--jobs><40><--clients><8><--seed><7>",
        ),
        (["synth"], "<synth><--quiet><--context><stage=dev><--context><identity=>"),
        (
            ["synth", "STAGE=prod", "IDENTITY=token"],
            "<synth><--quiet><--context><stage=prod><--context><identity=token>",
        ),
        (["deploy", "STAGE=$(touch gone)"], "<-m><tools.deploy><up><$(touch gone)>"),
        (["destroy"], "<-m><tools.deploy><down><dev>"),
        (["destroy", "STAGE=`touch gone`"], "<-m><tools.deploy><down><`touch gone`>"),
        (["smoke", "URL=https://x/v1", "IMAGE=a.jpg b.png"], "<-m><tools.smoke><https://x/v1><a.jpg><b.png>"),
        (["smoke"], "<-m><tools.smoke><>"),
        (["cost"], "<-m><tools.cost>"),
        (["golden"], "<-m><tests.infra.golden>"),
        (["openapi"], "<-m><tests.described>"),
        (["fuzz-api"], "<-m><tools.fuzz_api><--cases><2000>"),
        (["fuzz-api", "CASES=5", "SEED=1"], "<-m><tools.fuzz_api><--cases><5><--seed><1>"),
        (
            ["synth", "STAGE=$(touch gone)"],
            "<synth><--quiet><--context><stage=$(touch gone)><--context><identity=>",
        ),
    ],
    ids=lambda it: " ".join(it) if isinstance(it, list) else "",
)
def test_a_command_prints_only_what_it_starts(project: Path, words: list[str], called: str) -> None:
    assert make(project, *words).stdout == f"{called}\n"


def test_settings_and_secrets_travel_in_the_environment_and_not_in_the_command_line(project: Path) -> None:
    (project / ".venv/bin/python").write_text(
        '#!/bin/sh\necho "$*" "[$THUMBLINE_IDENTITY]" "[$THUMBLINE_TOKEN]"\n'
    )

    deployed = make(project, "deploy", "IDENTITY=token").stdout
    smoked = make(project, "smoke", "URL=x", "TOKEN=thumb_$(touch gone)").stdout

    assert deployed == "-m tools.deploy up dev [token] []\n"
    assert smoked == "-m tools.smoke x [] [thumb_$(touch gone)]\n"


def test_help_names_what_can_be_chosen() -> None:
    listed = {line.split()[0]: line for line in make(ROOT, "help").stdout.splitlines()}

    for target in ("synth", "deploy"):
        assert "IDENTITY=iam|token" in listed[target]
    assert "TOKEN=" in listed["smoke"]


def test_check_is_everything_that_ci_runs(project: Path) -> None:
    called = make(project, "check").stdout.splitlines()

    assert called == [
        "<-m><ruff><check>",
        "<-m><ruff><format><--check>",
        "<-m><mypy>",
        "",
        "<-m><pytest><--numprocesses><2><--dist><loadscope><--no-loadscope-reorder>",
        "<-m><tools.chaos><--seeds><40><--jobs><200><--seed0><0>",
        "<-m><tools.mutants>",
    ]


def test_file_names_are_split_at_spaces_and_otherwise_left_alone(project: Path) -> None:
    odd = "a$b.jpg c'd.png $(touch gone) *.webp `id` \"e;f&.gif #1 ü.jpg"

    (project / "a.webp").touch()

    run = make(project, "demo", f"IMAGE={odd}")

    assert run.stdout == "<-m><tools.demo>" + "".join(f"<{word}>" for word in odd.split()) + "\n"
    assert not (project / "gone").exists()


def test_ci_runs_make_check_and_nothing_else() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    commands = [line for line in script.splitlines() if line and not line.startswith("#")]

    assert commands == ["set -euo pipefail", 'cd "$(dirname "${BASH_SOURCE[0]}")/.."', "exec make check"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
