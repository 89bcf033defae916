"""The app as the CDK CLI runs it: failures are one sentence and exit status 1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from infra.synthesis import ROOT


def _synthesize(assembly: Path, **context: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(assembly),
        "CDK_CONTEXT_JSON": json.dumps(context),
    }
    return subprocess.run(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_an_unknown_stage_ends_in_one_sentence(tmp_path: Path) -> None:
    run = _synthesize(tmp_path, stage="staging")

    assert run.returncode == 1
    assert run.stderr == "thumbline: unknown stage 'staging': choose one of dev, prod, local\n"


def test_an_unknown_identity_ends_in_one_sentence(tmp_path: Path) -> None:
    run = _synthesize(tmp_path, stage="dev", identity="tokens")

    assert run.returncode == 1
    assert run.stderr == "thumbline: unknown identity 'tokens': choose one of iam, token, local\n"


def test_the_local_stage_synthesizes_with_its_real_assets(tmp_path: Path) -> None:
    run = _synthesize(tmp_path, stage="local", identity="")

    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "Thumbline-Local.template.json").is_file()
    worker = next(tmp_path.glob("asset.*/functions/thumbnail_worker/handler.py"))
    assert worker.read_bytes() == (ROOT / "functions" / "thumbnail_worker" / "handler.py").read_bytes()
    assert list(tmp_path.glob("asset.*/python/PIL/__init__.py"))


def test_the_cdk_cli_runs_the_projects_own_interpreter() -> None:
    config = json.loads((ROOT / "cdk.json").read_text())

    assert config["app"] == "${THUMBLINE_PYTHON:-.venv/bin/python} app.py"
    assert config["output"] == "cdk.out"
