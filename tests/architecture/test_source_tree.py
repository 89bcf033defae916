"""What holds for every file of the project: small, about the project only, errors named as errors."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
from pathlib import Path

import thumbline

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "layers" / "core" / "python" / "thumbline"
CODE = {".py", ".sh", ".toml"}
MAXIMUM_LINES = 400
VAGUE_NAMES = {"utils", "helpers", "common", "util", "helper", "misc"}

# Written with gaps, so that this file does not find itself.
MACHINE_WORDS = re.compile(
    r"(?<![\w.])/(?:ro{2}t|home/\w+|w{1}ork/\w|opt/p{1}ypi)"
    r"|p{1}ypi\.org|python{1}hosted|registry\.n{1}pmjs|find-{1}links"
)
CLIENT_MAKERS = {"client", "resource", "Session"}


def project_files() -> list[Path]:
    """Every file under version control or about to be, that exists."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def text_of(file: Path) -> str | None:
    data = file.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", errors="replace")


def test_no_file_of_code_is_long() -> None:
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text().splitlines())
        for file in project_files()
        if file.suffix in CODE or file.name == "Makefile"
    }

    assert "pyproject.toml" in lengths
    assert {name: length for name, length in lengths.items() if length > MAXIMUM_LINES} == {}


def test_no_file_speaks_of_one_machine_or_names_a_registry() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in project_files()
        if (text := text_of(file)) is not None
        for match in MACHINE_WORDS.finditer(text)
    ]

    assert found == []


def test_the_search_for_machine_words_finds_them() -> None:
    samples = ["cd /{}/main", "in /{}t", "https://{}.org/simple", "registry.{}js.org", "/home/{}/x"]
    words = ["wo" + "rk", "ro" + "o", "py" + "pi", "np" + "m", "someone"]

    for sample, word in zip(samples, words, strict=True):
        assert MACHINE_WORDS.search(sample.format(word)), sample
    assert not MACHINE_WORDS.search("src/network/root.py, a/work/queue and /work-queue")


def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {part.removesuffix(".py") for file in project_files() for part in file.relative_to(ROOT).parts}

    assert parts & VAGUE_NAMES == set()


def test_every_exception_class_ends_in_error() -> None:
    classes: set[type[BaseException]] = set()
    for module in pkgutil.walk_packages(thumbline.__path__, "thumbline."):
        for _, member in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(member, BaseException) and member.__module__.startswith("thumbline."):
                classes.add(member)

    assert classes
    assert {one.__qualname__ for one in classes if not one.__name__.endswith("Error")} == set()


def test_only_the_composition_root_makes_clients() -> None:
    makers = {
        file.parent
        for folder in (CORE, ROOT / "functions")
        for file in _modules(folder)
        if _makes_a_client(file)
    }

    assert makers == {CORE / "bootstrap"}


def test_settings_come_from_handlers_and_nothing_else_reads_the_environment() -> None:
    readers = {
        file.relative_to(CORE)
        for file in _modules(CORE)
        if re.search(r"\bos\.(environ|getenv)\b", file.read_text())
    }

    # It hands the variables that an interpreter needs to its child, and none of the others.
    assert readers <= {Path("adapters/pillow/child_process.py")}


def _modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _makes_a_client(file: Path) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CLIENT_MAKERS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in {"boto3", "session"}
        for node in ast.walk(ast.parse(file.read_text()))
    )
