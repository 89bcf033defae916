"""The files of a folder, and the names under which their thumbnails are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

_MANIFEST = "manifest.json"


class FolderError(Exception):
    """The folder cannot be used; the message is one sentence that names it."""


def corpus_files(folder: Path) -> list[Path]:
    """All files in the folder itself, by name; hidden ones and the manifest of expectations aside.

    Raises FolderError.
    """
    try:
        files = [path for path in folder.iterdir() if path.is_file()]
    except OSError as error:
        raise FolderError(f"{folder} cannot be read: {error.strerror}.") from error
    wanted = sorted(path for path in files if path.name != _MANIFEST and not path.name.startswith("."))
    if not wanted:
        raise FolderError(f"{folder} holds no file.")
    return wanted


def thumbnail_stems(files: Sequence[Path]) -> dict[Path, str]:
    """`photo.jpg` → `photo`; of several `photo`, each keeps its type: `photo__jpg`, `photo__png`.

    Names that differ in case alone count as the same, as on many disks.
    """
    shared = Counter(path.stem.casefold() for path in files)
    chosen: dict[Path, str] = {}
    taken: set[str] = set()
    for path in files:
        is_alone = shared[path.stem.casefold()] == 1
        stem = path.stem if is_alone else f"{path.stem}__{path.suffix.removeprefix('.')}"
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}__{number}"
        taken.add(name.casefold())
        chosen[path] = name
    return chosen
