"""What documents say of the command: every line that they show can be typed, and no command is left out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from thumbline.domain.keys import job_id as make_job_id
from tools.operator.arguments import parse

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OPERATOR_PAGE = (ROOT / "docs" / "operator.md").read_text()
SHOWN = [
    (page.name, line.partition("#")[0].strip())
    for page in PAGES
    for line in page.read_text().splitlines()
    if line.strip().startswith(".venv/bin/thumbline ")
]


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=[f"{page}: {line}" for page, line in SHOWN])
def test_a_line_that_is_shown_can_be_typed(page: str, line: str) -> None:
    words = shlex.split(line.replace("img_…", make_job_id(0, 1)))

    assert parse(words[1:]).command, page


def test_lines_are_found_where_an_operator_looks() -> None:
    assert {"README.md", "operator.md", "oldest-open-job.md", "first-undelivered.md"} <= {
        it for it, _ in SHOWN
    }


def test_every_command_has_a_row_and_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    rows = re.findall(r"^\| `(.+?)` \|", OPERATOR_PAGE, re.MULTILINE)
    documents = OPERATOR_PAGE[OPERATOR_PAGE.index("## JSON") :]

    for command in _listed(capsys):
        actions = [f"{command} {it}" for it in _listed(capsys, command)] or [command]
        for words in actions:
            assert [row for row in rows if f"{row} ".startswith(f"{words} ")], words
            assert f"`{words}" in documents, words


def _listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The sub-commands that the help of these words names."""
    with pytest.raises(SystemExit):
        parse([*words, "--help"])
    _, _, listing = capsys.readouterr().out.partition("positional arguments:\n")
    return re.findall(r"^    ([a-z]+) {2,}", listing, re.MULTILINE)
