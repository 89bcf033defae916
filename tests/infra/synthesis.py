"""One synthesis of every stage: the templates, and what the checkers of templates have to say about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from infra.assets import FUNCTION_NAMES, Asset, Assets
from infra.settings import STAGE_NAMES, stage_settings
from infra.stack import ThumblineStack
from tests.infra.template import Template


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """`rule` is the name under which it is acknowledged, `path` the construct that it is about."""

    rule: str
    path: str


@dataclass(frozen=True, slots=True)
class Synthesis:
    folder: Path
    """The assembly."""
    templates: dict[str, Template]
    findings: list[Finding]
    """Of all checkers, as if nothing had been acknowledged."""
    acknowledged: dict[Finding, str]
    """What the stack accepts, and why."""


@dataclass
class Acknowledgments:
    """Takes down what is acknowledged, instead of hiding the findings from the report."""

    reasons: dict[Finding, str] = field(default_factory=dict)

    @contextmanager
    def noted(self) -> Iterator[None]:
        with patch("infra.parts.acknowledged.Validations", self):
            yield

    def of(self, construct: Any) -> _Noted:
        return _Noted(self, str(construct.node.path))


@dataclass(frozen=True, slots=True)
class _Noted:
    book: Acknowledgments
    path: str

    def acknowledge(self, acknowledgment: Any) -> None:
        self.book.reasons[Finding(acknowledgment.id, self.path)] = acknowledgment.reason


def synthesize(folder: Path) -> Synthesis:
    """Every stage in one app, checked, with placeholders for the assets, in the empty folder `folder`."""
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks, ServerlessChecks

    app = App(
        outdir=str(folder / "assembly"),
        # CDK's template checks are warnings by default: here they are findings.
        context={"@aws-cdk/core:strictCfnValidateErrors": True},
    )
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), ServerlessChecks(app))
    book = Acknowledgments()
    with book.noted():
        stacks = _stacks(app, folder)
    _synthesize_with_findings(app)
    assembly = folder / "assembly"
    return Synthesis(
        folder=assembly,
        templates={name: Template(_read(assembly / file)) for name, file in stacks.items()},
        findings=sorted(_findings(_read(assembly / "validation-report.json"))),
        acknowledged=book.reasons,
    )


def synthesize_templates(folder: Path) -> dict[str, Template]:
    """The same, unchecked and so in half the time."""
    from aws_cdk import App

    app = App(outdir=str(folder / "assembly"), builtin_cloud_formation_validation=False)
    stacks = _stacks(app, folder)
    app.synth()
    return {name: Template(_read(folder / "assembly" / file)) for name, file in stacks.items()}


def _stacks(app: Any, folder: Path) -> dict[str, str]:
    """Stage -> its template's file."""
    assets = placeholders(folder)
    return {
        name: str(ThumblineStack(app, settings=stage_settings(name), assets=assets).template_file)
        for name in STAGE_NAMES
    }


def _synthesize_with_findings(app: Any) -> None:
    """Nothing is acknowledged, so the checkers refuse the app, after everything has been written."""
    try:
        app.synth()
    except RuntimeError as error:
        if "ValidationFailed" not in str(error):
            raise


def _findings(report: dict[str, Any]) -> Iterator[Finding]:
    for checker in report["pluginReports"]:
        for violation in checker["violations"]:
            for construct in violation["violatingConstructs"]:
                yield Finding(f"{checker['pluginName']}::{violation['ruleName']}", construct["constructPath"])


def placeholders(folder: Path) -> Assets:
    return Assets(
        functions={name: _placeholder(folder / name) for name in FUNCTION_NAMES},
        core=_placeholder(folder / "core"),
        runtime=_placeholder(folder / "runtime"),
        imaging=_placeholder(folder / "imaging"),
    )


def _placeholder(folder: Path) -> Asset:
    folder.mkdir()
    (folder / "placeholder.py").write_text(folder.name)
    return Asset(folder)


def _read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text())
    return document
