"""One synthesis for the whole session: every stage's stack in one app, with placeholders for the assets."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.assets import FUNCTION_NAMES, Asset, Assets
from infra.settings import STAGE_NAMES, stage_settings
from infra.stack import ThumblineStack
from tests.infra.template import Template


def _placeholder(folder: Path) -> Asset:
    folder.mkdir()
    (folder / "placeholder.py").write_text(folder.name)
    return Asset(folder)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Template]:
    from aws_cdk import App

    folder = tmp_path_factory.mktemp("assets")
    assets = Assets(
        functions={name: _placeholder(folder / name) for name in FUNCTION_NAMES},
        core=_placeholder(folder / "core"),
        runtime=_placeholder(folder / "runtime"),
        imaging=_placeholder(folder / "imaging"),
    )
    app = App(
        outdir=str(tmp_path_factory.mktemp("assembly")),
        # CDK's template checks are warnings by default: here they fail.
        context={"@aws-cdk/core:strictCfnValidateErrors": True},
    )
    stacks = {name: ThumblineStack(app, settings=stage_settings(name), assets=assets) for name in STAGE_NAMES}
    assembly = app.synth()
    return {
        name: Template(assembly.get_stack_artifact(stack.artifact_id).template)
        for name, stack in stacks.items()
    }


@pytest.fixture(scope="session")
def dev(templates: dict[str, Template]) -> Template:
    return templates["dev"]


@pytest.fixture(params=STAGE_NAMES)
def any_stage(request: pytest.FixtureRequest, templates: dict[str, Template]) -> Template:
    return templates[request.param]
