"""The dependency rule holds, and it bites: forbidden imports are planted in a copy and must be found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "thumbline": "layers/core/python/thumbline",
    "functions": "functions",
    "infra": "infra",
    "tools": "tools",
}
FUNCTIONS = ("ingest_api", "outbox_relay", "thumbnail_worker", "job_reconciler")

# By contract: who must not import what.
FORBIDDEN: dict[str, list[tuple[str, str]]] = {
    "Inside thumbline, dependencies point inward": [
        ("thumbline.domain", "thumbline.ports"),
        ("thumbline.domain", "thumbline.metrics"),
        ("thumbline.metrics", "thumbline.domain"),
        ("thumbline.ports", "thumbline.service"),
        ("thumbline.ports", "thumbline.settings"),
        ("thumbline.service", "thumbline.adapters"),
        ("thumbline.adapters", "thumbline.service"),
        ("thumbline.settings", "thumbline.bootstrap"),
    ],
    "The rules are free of AWS, Powertools and Pillow": [
        (f"thumbline.{layer}", package)
        for layer in ("domain", "ports", "service", "settings", "metrics")
        for package in ("boto3", "botocore", "aws_lambda_powertools", "PIL", "aws_cdk")
    ],
    "What runs in Lambda does not import the CDK": [
        ("thumbline.adapters", "aws_cdk"),
        ("functions.outbox_relay", "aws_cdk"),
        ("functions.outbox_relay", "constructs"),
    ],
    "Functions do not import each other": [
        (f"functions.{one}", f"functions.{other}")
        for one, other in zip(FUNCTIONS, FUNCTIONS[1:] + FUNCTIONS[:1], strict=True)
    ],
    "thumbline knows nobody who uses it": [
        ("thumbline.bootstrap", "functions.ingest_api"),
        ("thumbline.settings", "infra"),
        ("thumbline.adapters", "tools"),
    ],
    "Functions know neither infra nor tools": [
        ("functions.ingest_api", "infra"),
        ("functions.job_reconciler", "tools"),
    ],
    "infra knows neither functions nor tools": [("infra", "functions.ingest_api"), ("infra", "tools")],
    "Tools know neither infra nor functions": [("tools", "infra"), ("tools", "functions.ingest_api")],
}


def check(project: Path) -> subprocess.CompletedProcess[str]:
    core = project / "layers" / "core" / "python"
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(project), str(core)]), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def broken_contracts(report: str) -> set[str]:
    endings = (" BROKEN", " KEPT")
    return {
        line.removesuffix(endings[0]).strip() for line in report.splitlines() if line.endswith(endings[0])
    }


def plant(project: Path, importer: str, statement: str) -> None:
    package, _, inner = importer.partition(".")
    target = project / PACKAGES[package] / Path(*inner.split("."))
    module = target / "__init__.py" if target.is_dir() else target.with_suffix(".py")
    existing = module.read_text() if module.exists() else ""
    module.write_text(f"{existing}\n{statement}\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of all our packages and of the contracts."""
    skip_caches = shutil.ignore_patterns("__pycache__")
    for folder in PACKAGES.values():
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skip_caches)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_holds() -> None:
    report = check(ROOT)

    assert report.returncode == 0, report.stdout + report.stderr
    assert ", 0 broken" in report.stdout


@pytest.mark.parametrize("contract", FORBIDDEN)
def test_a_forbidden_import_is_found(project: Path, contract: str) -> None:
    for importer, imported in FORBIDDEN[contract]:
        plant(project, importer, f"import {imported}")

    report = check(project)

    assert report.returncode == 1, report.stdout + report.stderr
    assert contract in broken_contracts(report.stdout)
    for importer, imported in FORBIDDEN[contract]:
        assert re.search(rf"{re.escape(importer)} -> {re.escape(imported)} \(", report.stdout), report.stdout


def test_a_new_module_must_be_given_its_place(project: Path) -> None:
    plant(project, "thumbline.newcomer", "")

    report = check(project)

    assert report.returncode == 1
    assert "thumbline.newcomer" in report.stdout


def test_every_contract_is_tried() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())

    assert {contract["name"] for contract in configuration["tool"]["importlinter"]["contracts"]} == set(
        FORBIDDEN
    )
