"""The staged assets are complete: an isolated interpreter that sees only them imports every handler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from infra.assets import Assets
from infra.settings import stage_settings
from infra.synthesis import ROOT, prepare_assets
from tests.infra.template import Template

FUNCTION = "AWS::Lambda::Function"
FUNCTIONS = {
    "IngestApi": "ingest_api",
    "OutboxRelay": "outbox_relay",
    "ThumbnailWorker": "thumbnail_worker",
    "JobReconciler": "job_reconciler",
}

IMPORT_HANDLER = """
import importlib, sys
handler, *folders = sys.argv[1:]
sys.path[:0] = folders
module, _, name = handler.rpartition(".")
imported = importlib.import_module(module)
assert callable(getattr(imported, name)), handler
print(*(sys.modules[found].__file__ for found in ("thumbline", "boto3", "functions")), sep="\\n")
"""


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    """The local stage's, since its layers are built for the interpreter that runs this test."""
    return prepare_assets(ROOT, stage_settings("local"), tmp_path_factory.mktemp("staging"))


def _import_handler(handler: str, folders: list[Path]) -> subprocess.CompletedProcess[str]:
    # -I: no environment, no working directory; -S: no site-packages; -B: no __pycache__ in the assets.
    command = [sys.executable, "-ISB", "-c", IMPORT_HANDLER, handler, *map(str, folders)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env={})


def _folders(template: Template, name: str, assets: Assets) -> list[Path]:
    """Code first, then the layers that the template gives the function, as Lambda orders its path."""
    layers = {"LayersCore": assets.core, "LayersRuntime": assets.runtime, "LayersImaging": assets.imaging}
    references = [layer["Ref"] for layer in template.one(FUNCTION, name)["Layers"]]
    found = [
        asset.path / "python"
        for reference in references
        for prefix, asset in layers.items()
        if reference.startswith(prefix)
    ]
    return [assets.functions[FUNCTIONS[name]].path, *found]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_handler_of_the_template_imports_from_the_staged_assets_alone(
    name: str, assets: Assets, templates: dict[str, Template]
) -> None:
    template = templates["local"]
    handler = template.one(FUNCTION, name)["Handler"]
    folders = _folders(template, name, assets)

    run = _import_handler(handler, folders)

    assert run.returncode == 0, run.stderr
    for imported in run.stdout.splitlines():
        assert any(Path(imported).is_relative_to(folder) for folder in folders), imported


def test_the_isolated_interpreter_sees_nothing_else(assets: Assets) -> None:
    run = _import_handler("functions.outbox_relay.handler.lambda_handler", [assets.core.path / "python"])

    assert run.returncode != 0
    assert "No module named 'functions'" in run.stderr
