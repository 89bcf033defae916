"""When the assembly has to be made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.local.assembly import Assembly, AssemblyCache, inputs_digest
from tools.local.errors import LocalStackError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("app.py", "cdk.json", "requirements.txt", "infra/stack.py", "functions/a/handler.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "layers").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["app.py", "cdk.json", "requirements.txt", "infra/stack.py"])
def test_every_input_counts(project: Path, name: str) -> None:
    before = inputs_digest(project)
    (project / name).write_text("other")
    assert inputs_digest(project) != before


def test_new_and_renamed_inputs_count(project: Path) -> None:
    digests = [inputs_digest(project)]
    (project / "layers" / "requirements.txt").write_text("x")
    digests.append(inputs_digest(project))
    (project / "layers" / "requirements.txt").rename(project / "layers" / "renamed.txt")
    digests.append(inputs_digest(project))
    assert len(set(digests)) == 3


def test_what_python_and_people_leave_behind_does_not_count(project: Path) -> None:
    before = inputs_digest(project)
    (project / "infra" / "__pycache__").mkdir()
    (project / "infra" / "__pycache__" / "stack.pyc").write_text("x")
    (project / "README.md").write_text("x")
    assert inputs_digest(project) == before


def test_an_assembly_is_current_only_for_its_own_digest(tmp_path: Path) -> None:
    cache = AssemblyCache(tmp_path / "assembly")
    assert not cache.is_current("a")
    cache.invalidate()
    write_manifest(cache.assembly.folder)
    cache.confirm("a")
    assert cache.is_current("a")
    assert not cache.is_current("b")


def test_a_synthesis_that_died_half_way_is_not_current(tmp_path: Path) -> None:
    cache = AssemblyCache(tmp_path / "assembly")
    cache.invalidate()
    write_manifest(cache.assembly.folder)
    cache.confirm("a")
    cache.invalidate()
    assert not cache.is_current("a")


def test_the_template_is_found_through_the_manifest(tmp_path: Path) -> None:
    write_manifest(tmp_path, "One.template.json")
    (tmp_path / "One.template.json").write_text('{"Resources": {}}')
    assert Assembly(tmp_path).template() == {"Resources": {}}


def test_more_than_one_stack_is_refused(tmp_path: Path) -> None:
    write_manifest(tmp_path, "One.template.json", "Two.template.json")
    with pytest.raises(LocalStackError, match="holds 2 stacks, not one"):
        Assembly(tmp_path).template()


def write_manifest(folder: Path, *templates: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    artifacts = {
        name: {"type": "aws:cloudformation:stack", "properties": {"templateFile": name}} for name in templates
    }
    (folder / "manifest.json").write_text(
        json.dumps({"artifacts": {**artifacts, "Tree": {"type": "cdk:tree"}}})
    )
