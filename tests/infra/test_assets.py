"""Assets are cut by allow-lists: what is not code of ours neither ships nor changes a hash."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra.assets import FUNCTION_NAMES, Asset, Assets, stage_core, stage_function
from infra.errors import AssetError
from infra.synthesis import ROOT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the sources that assets are cut from."""
    root = tmp_path / "project"
    shutil.copytree(ROOT / "functions", root / "functions")
    shutil.copytree(ROOT / "layers" / "core" / "python", root / "layers" / "core" / "python")
    return root


def _contents(asset: Asset) -> dict[str, bytes]:
    files = (path for path in asset.path.rglob("*") if path.is_file())
    return {str(path.relative_to(asset.path)): path.read_bytes() for path in files}


def _cdk_hash(asset: Asset) -> str:
    from aws_cdk import FileSystem

    return FileSystem.fingerprint(str(asset.path))


def _litter(folder: Path) -> None:
    """What running code, editors and virtual environments leave behind."""
    for name in ("__pycache__/handler.cpython-313.pyc", ".venv/pyvenv.cfg", "notes.txt", ".handler.py.swp"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("litter")


def test_a_function_ships_its_own_folder_and_nothing_else(tree: Path, tmp_path: Path) -> None:
    shipped = set(_contents(stage_function(tree, "outbox_relay", tmp_path / "staging")))

    assert {"functions/__init__.py", "functions/outbox_relay/handler.py"} <= shipped
    assert all(name.startswith(("functions/__init__", "functions/outbox_relay/")) for name in shipped)
    assert all(name.endswith(".py") for name in shipped)


def test_the_core_layer_ships_our_package_in_a_layers_layout(tree: Path, tmp_path: Path) -> None:
    shipped = set(_contents(stage_core(tree, tmp_path / "staging")))

    assert "python/thumbline/settings.py" in shipped
    assert "python/thumbline/domain/schema.py" in shipped
    assert all(name.startswith("python/thumbline/") for name in shipped)


def test_what_is_left_behind_in_the_tree_changes_no_hash(tree: Path, tmp_path: Path) -> None:
    clean = (
        stage_function(tree, "thumbnail_worker", tmp_path / "a"),
        stage_core(tree, tmp_path / "a"),
    )
    _litter(tree / "functions" / "thumbnail_worker")
    _litter(tree / "functions")
    _litter(tree / "layers" / "core" / "python" / "thumbline" / "domain")
    littered = (
        stage_function(tree, "thumbnail_worker", tmp_path / "b"),
        stage_core(tree, tmp_path / "b"),
    )

    assert [_contents(asset) for asset in littered] == [_contents(asset) for asset in clean]
    assert [_cdk_hash(asset) for asset in littered] == [_cdk_hash(asset) for asset in clean]


def test_a_changed_line_changes_the_hash(tree: Path, tmp_path: Path) -> None:
    before = _cdk_hash(stage_function(tree, "outbox_relay", tmp_path / "a"))
    with (tree / "functions" / "outbox_relay" / "handler.py").open("a") as handler:
        handler.write("# changed\n")

    assert _cdk_hash(stage_function(tree, "outbox_relay", tmp_path / "b")) != before


def test_a_missing_handler_is_named(tree: Path, tmp_path: Path) -> None:
    (tree / "functions" / "outbox_relay" / "handler.py").unlink()

    with pytest.raises(AssetError, match=r"functions/outbox_relay/handler\.py is missing"):
        stage_function(tree, "outbox_relay", tmp_path / "staging")


def test_code_that_lambda_would_refuse_for_its_size_is_refused_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {}
    for name in ("core", "runtime", "imaging", *FUNCTION_NAMES):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        (folders[name] / "data").write_bytes(b"x" * 10)
    assets = Assets(
        functions={name: Asset(folders[name]) for name in FUNCTION_NAMES},
        core=Asset(folders["core"]),
        runtime=Asset(folders["runtime"]),
        imaging=Asset(folders["imaging"]),
    )
    monkeypatch.setattr("infra.assets.UNZIPPED_LIMIT_BYTES", 40)
    assets.check_sizes()

    monkeypatch.setattr("infra.assets.UNZIPPED_LIMIT_BYTES", 39)
    with pytest.raises(AssetError, match="is 40 bytes unzipped, more than Lambda's 39"):
        assets.check_sizes()
