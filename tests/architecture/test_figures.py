"""Figures that pages tell and the code knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.mutants.catalogue import ALL_MUTANTS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("page", "words"), [("README.md", "{} bugs put into"), ("docs/verified.md", "{} mutants killed")]
)
def test_a_page_tells_how_many_mutants_there_are(page: str, words: str) -> None:
    assert words.format(len(ALL_MUTANTS)) in (ROOT / page).read_text()


def test_no_two_mutants_share_a_name() -> None:
    assert len({mutant.name for mutant in ALL_MUTANTS}) == len(ALL_MUTANTS)
