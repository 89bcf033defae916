"""The synthesized `local` stage, made again only when something that goes into it has changed."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.local.errors import LocalStackError

INPUT_FILES = ("app.py", "cdk.json", "package-lock.json", "requirements.txt")
INPUT_FOLDERS = ("infra", "functions", "layers")
_IGNORED_FOLDERS = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_STAMP = "inputs.sha256"


@dataclass(frozen=True, slots=True)
class Assembly:
    """A cloud assembly on disk, as `cdk synth` wrote it."""

    folder: Path

    def template(self) -> dict[str, Any]:
        """The one stack's template. Raises LocalStackError when the assembly has none, or several."""
        manifest = json.loads((self.folder / "manifest.json").read_text())
        names = [
            artifact["properties"]["templateFile"]
            for artifact in manifest.get("artifacts", {}).values()
            if artifact.get("type") == "aws:cloudformation:stack"
        ]
        if len(names) != 1:
            raise LocalStackError(f"The assembly {self.folder} holds {len(names)} stacks, not one.")
        template: dict[str, Any] = json.loads((self.folder / names[0]).read_text())
        return template


@dataclass(frozen=True, slots=True)
class AssemblyCache:
    """One assembly per project, with the digest of its inputs beside it.

    The folder is reused across changes, because cdk keeps unchanged bundled layers in it.
    """

    root: Path

    @property
    def assembly(self) -> Assembly:
        return Assembly(self.root / "cdk.out")

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    def is_current(self, digest: str) -> bool:
        stamp = self.root / _STAMP
        manifest = self.assembly.folder / "manifest.json"
        return manifest.exists() and stamp.exists() and stamp.read_text() == digest

    def invalidate(self) -> None:
        """Called before synthesis, so that a synthesis that dies half-way is never taken for a whole one."""
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / _STAMP).unlink(missing_ok=True)

    def confirm(self, digest: str) -> None:
        (self.root / _STAMP).write_text(digest)


def inputs_digest(project: Path) -> str:
    """SHA-256 over every file that can change the assembly, and over the platform of its layers."""
    digest = hashlib.sha256()
    digest.update(f"{sys.version_info[:2]} {sys.platform} {platform.machine()}\n".encode())
    for path in _input_paths(project):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(project).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def _input_paths(project: Path) -> Iterator[Path]:
    for name in INPUT_FILES:
        if (path := project / name).is_file():
            yield path
    for folder in INPUT_FOLDERS:
        for path in sorted((project / folder).rglob("*")):
            if path.is_file() and not _IGNORED_FOLDERS.intersection(path.relative_to(project).parts):
                yield path
