"""A stamp in a finished folder says what it was made from; a folder without one is not finished.

Digests, not modification times: a checkout touches files without changing them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

_STAMP = ".setup-stamp"


def digest(files: Iterable[Path], *facts: str) -> str:
    """SHA-256, in hex, of the files' contents in order and of what else the result depends on."""
    total = hashlib.sha256()
    for part in (*(file.read_bytes() for file in files), *(fact.encode() for fact in facts)):
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()


def is_finished(folder: Path, expected: str) -> bool:
    try:
        return (folder / _STAMP).read_text() == expected
    except OSError:
        return False


def mark_finished(folder: Path, made_from: str) -> None:
    """Writes the stamp in one step, so that a crash leaves either none or a whole one."""
    draft = folder / f"{_STAMP}.draft"
    draft.write_text(made_from)
    os.replace(draft, folder / _STAMP)


def discard(folder: Path) -> None:
    """Removes a folder, its stamp first: an interrupted removal must not look finished."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
        return
    (folder / _STAMP).unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)
