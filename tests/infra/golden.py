"""`make golden`: writes the synthesized templates, and every IAM statement, to files that reviewers read."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.infra.synthesis import synthesize_templates
from tests.infra.template import Template

FOLDER = Path(__file__).parent / "golden"
_POLICIES = "iam-statements.json"
_HASHES = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    # API Gateway's deployments are named by what they deploy.
    (re.compile(r"(RestApiDeployment[0-9A-F]{8})[0-9a-f]{32}"), r"\1HASH"),
)


def golden_files(templates: dict[str, Template]) -> dict[str, str]:
    """File name -> content."""
    texts = {f"{stage}.json": scrubbed(template, stage) for stage, template in templates.items()}
    statements = {stage: iam_statements(template) for stage, template in templates.items()}
    return {**texts, _POLICIES: _text(statements)}


def scrubbed(template: Template, stage: str) -> str:
    """The template without what changes from one machine, or one line of code, to the next."""
    text = _text(template.body)
    for pattern, replacement in _HASHES:
        text = pattern.sub(replacement, text)
    if stage == "local":
        text = re.sub(r'"(arm64|x86_64)"', '"HOST"', text)
    return text


def iam_statements(template: Template) -> dict[str, list[dict[str, Any]]]:
    """Everything that allows or denies anything to anybody, by the resource that says so."""
    return {
        name: [statement for document in _documents(resource) for statement in document["Statement"]]
        for name, resource in sorted(template.body["Resources"].items())
        if _documents(resource)
    }


def _documents(part: Any) -> list[dict[str, Any]]:
    """Policy documents, wherever they are."""
    if isinstance(part, dict):
        if "Statement" in part:
            return [part]
        return [document for value in part.values() for document in _documents(value)]
    if isinstance(part, list):
        return [document for value in part for document in _documents(value)]
    return []


def _text(document: Any) -> str:
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = golden_files(synthesize_templates(Path(folder)))
    FOLDER.mkdir(exist_ok=True)
    for stale in FOLDER.glob("*.json"):
        stale.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text)
        print(f"wrote {(FOLDER / name).relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
