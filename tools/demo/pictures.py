"""Which pictures the demo sends, and under which names their thumbnails are saved."""

from __future__ import annotations

import mimetypes
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.local.paths import PROJECT_ROOT

SAMPLE = PROJECT_ROOT / "samples" / "photo.jpg"
IMAGE_VARIABLE = "IMAGE"
_UNKNOWN_TYPE = "application/octet-stream"


class PictureError(Exception):
    """A picture cannot be read; the message is one sentence that names it."""


@dataclass(frozen=True, slots=True)
class Picture:
    path: Path
    content: bytes

    @property
    def content_type(self) -> str:
        """What the name promises, where that is a picture: the API looks at the content anyway."""
        guessed, _ = mimetypes.guess_type(self.path.name)
        return guessed if guessed and guessed.startswith("image/") else _UNKNOWN_TYPE


def chosen_paths(arguments: Sequence[str], environ: Mapping[str, str]) -> list[Path]:
    """The paths on the command line, else those in IMAGE (separated by blanks), else the sample."""
    names = list(arguments) or shlex.split(environ.get(IMAGE_VARIABLE, ""))
    return [Path(name).expanduser() for name in names] or [SAMPLE]


def read_picture(path: Path) -> Picture:
    """Raises PictureError with the reason."""
    try:
        return Picture(path, path.read_bytes())
    except OSError as error:
        raise PictureError(f"{path} cannot be read: {error.strerror}.") from error


class ThumbnailNames:
    """Names files after their originals; a second `photo` in one run becomes `photo-2`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def choose(self, original: Path, extension: str) -> str:
        stem, number = original.stem, 1
        name = f"{stem}.{extension}"
        while name.lower() in self._taken:
            number += 1
            name = f"{stem}-{number}.{extension}"
        self._taken.add(name.lower())
        return name
