"""docs/requirements.md maps each requirement to its proof; every proof that it names must exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAP = ROOT / "docs" / "requirements.md"
FIRST_WAVE = {
    *range(1, 9),
    *range(11, 17),
    *range(18, 32),
    60,
    *range(65, 68),
    70,
    *range(74, 77),
    *range(129, 136),
}

ROW = re.compile(r"^\| S(\d+) \| (.+?) \| (.+?) \|$")
TARGET = re.compile(r"`([\w./-]+\.py)::(\w+)`")
PAGE = re.compile(r"\[[^\]]+\]\(([\w./-]+\.md)(?:#([\w-]+))?\)")


def rows() -> dict[int, str]:
    matches = [ROW.match(line) for line in MAP.read_text().splitlines()]
    return {int(match[1]): match[3] for match in matches if match}


def test_every_requirement_of_the_wave_is_mapped() -> None:
    assert set(rows()) >= FIRST_WAVE


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
