"""Cuts what is deployed out of the source tree by allow-lists: nothing else can change an asset's hash."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.errors import AssetError

FUNCTION_NAMES = ("ingest_api", "token_authorizer", "outbox_relay", "thumbnail_worker", "job_reconciler")
UNZIPPED_LIMIT_BYTES = 250 * 1024 * 1024
"""Lambda's quota for a function with all its layers."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A folder to upload; `custom_hash` names its content where the bytes themselves may vary."""

    path: Path
    custom_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """Everything that the stack uploads, ready on disk."""

    functions: Mapping[str, Asset]
    core: Asset
    runtime: Asset
    imaging: Asset

    def check_sizes(self) -> None:
        """Raises AssetError when a function with its layers exceeds Lambda's unzipped limit."""
        shared_bytes = _tree_bytes(self.core.path) + _tree_bytes(self.runtime.path)
        for name, code in self.functions.items():
            # The worker carries all three layers; no function is larger.
            total_bytes = shared_bytes + _tree_bytes(self.imaging.path) + _tree_bytes(code.path)
            if total_bytes > UNZIPPED_LIMIT_BYTES:
                raise AssetError(
                    f"function {name} with its layers is {total_bytes:,} bytes unzipped,"
                    f" more than Lambda's {UNZIPPED_LIMIT_BYTES:,}"
                )


def stage_function(root: Path, name: str, staging: Path) -> Asset:
    """Copies `functions/<name>` alone to `staging`. Raises AssetError without its handler."""
    source = root / "functions"
    if not (source / name / "handler.py").is_file():
        raise AssetError(f"functions/{name}/handler.py is missing, so there is no code to deploy for {name}")
    target = staging / "functions" / name
    _copy(source, [source / "__init__.py", *_modules(source / name)], target / "functions")
    return Asset(target)


def stage_core(root: Path, staging: Path) -> Asset:
    """Copies our own package to `staging` in a layer's layout (`python/` is on the path in Lambda)."""
    source = root / "layers" / "core" / "python"
    target = staging / "layers" / "core"
    _copy(source, _modules(source / "thumbline"), target / "python")
    return Asset(target)


def _modules(package: Path) -> list[Path]:
    found = [path for path in package.rglob("*") if path.suffix == ".py" or path.name == "py.typed"]
    return sorted(path for path in found if path.is_file())


def _copy(source: Path, files: Iterable[Path], target: Path) -> None:
    for file in files:
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def _tree_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
