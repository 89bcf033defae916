"""What is deployed changes only together with a file that a reviewer sees change."""

from __future__ import annotations

import difflib

import pytest

from infra.settings import STAGE_NAMES
from tests.infra.golden import FOLDER, golden_files
from tests.infra.template import Template

NAMES = [*(f"{name}.json" for name in STAGE_NAMES), "iam-statements.json"]


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_file_is_what_is_synthesized(name: str, templates: dict[str, Template]) -> None:
    synthesized = golden_files(templates)[name].splitlines()
    golden = (FOLDER / name).read_text().splitlines()

    difference = "\n".join(
        difflib.unified_diff(golden, synthesized, "golden", "synthesized", lineterm="", n=2)
    )
    assert difference == "", f"review the difference, then run `make golden`:\n{difference}"


def test_there_is_no_other_golden_file() -> None:
    assert sorted(file.name for file in FOLDER.iterdir()) == sorted(NAMES)


def test_golden_files_hold_no_hash(templates: dict[str, Template]) -> None:
    text = golden_files(templates)["prod.json"]

    assert '"S3Key": "HASH.zip"' in text
    assert "RestApiDeployment" in text
    assert "arm64" in text
    assert '"HOST"' in golden_files(templates)["local.json"]
