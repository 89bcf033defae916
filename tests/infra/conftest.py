"""One synthesis for the whole session."""

from __future__ import annotations

import pytest

from infra.settings import STAGE_NAMES
from tests.infra.synthesis import Synthesis, synthesize
from tests.infra.template import Template


@pytest.fixture(scope="session")
def synthesis(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    return synthesize(tmp_path_factory.mktemp("synthesis"))


@pytest.fixture(scope="session")
def templates(synthesis: Synthesis) -> dict[str, Template]:
    return synthesis.templates


@pytest.fixture(scope="session")
def dev(templates: dict[str, Template]) -> Template:
    return templates["dev"]


@pytest.fixture(params=STAGE_NAMES)
def any_stage(request: pytest.FixtureRequest, templates: dict[str, Template]) -> Template:
    return templates[request.param]
