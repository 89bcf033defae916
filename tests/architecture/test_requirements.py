"""docs/requirements.md maps each requirement to its proof; every proof that it names must exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAP = ROOT / "docs" / "requirements.md"
BUILT = {
    *range(1, 49),
    60,
    *range(62, 77),
    *range(110, 118),
    *range(121, 124),
    *range(127, 137),
    *range(148, 154),
}

ROW = re.compile(r"^\| S(\d+) \| (.+?) \| (.+?) \|$")
TARGET = re.compile(r"`([\w./-]+\.py)::(\w+)`")
PAGE = re.compile(r"\[[^\]]+\]\(([\w./-]+\.md)(?:#([\w-]+))?\)")


def rows() -> dict[int, str]:
    matches = [ROW.match(line) for line in MAP.read_text().splitlines()]
    return {int(match[1]): match[3] for match in matches if match}


def test_every_requirement_of_the_wave_is_mapped() -> None:
    assert set(rows()) >= BUILT


@pytest.mark.parametrize("number", sorted(rows()))
def test_every_named_proof_exists(number: int) -> None:
    proof = rows()[number]
    tests, pages = TARGET.findall(proof), PAGE.findall(proof)
    assert tests or pages, f"S{number} names no proof"
    for file, name in tests:
        tree = ast.parse((ROOT / file).read_text())
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, (
            f"S{number}: {file} has no {name}"
        )
    for page, anchor in pages:
        text = (MAP.parent / page).read_text()
        headings = {_anchor(line) for line in text.splitlines() if line.startswith("#")}
        assert not anchor or anchor in headings, f"S{number}: {page} has no #{anchor}"


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    text = heading.lstrip("#").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def test_every_test_that_a_page_names_exists() -> None:
    written = {
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    pages = sorted((ROOT / "docs").rglob("*.md"))
    named = {
        (page.name, name)
        for page in pages
        for name in re.findall(r"\b(test_\w+)\b(?!\.py)", page.read_text())
    }
    assert len(named) > 15
    assert not [(page, name) for page, name in sorted(named) if name not in written]
