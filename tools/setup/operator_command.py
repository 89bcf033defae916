"""The installed command `thumbline`: a script in the environment that runs the project's own sources."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

COMMAND = Path(".venv/bin/thumbline")


def install_operator_command(root: Path) -> None:
    """Writes the script where it is missing or another one; it works from every folder."""
    script = root / COMMAND
    text = _text(root)
    if script.exists() and script.read_text() == text:
        return
    draft = script.with_name(f"{script.name}.draft")
    draft.write_text(text)
    draft.chmod(0o755)
    os.replace(draft, script)


def _text(root: Path) -> str:
    path = os.pathsep.join([str(root), str(root / "layers" / "core" / "python")])
    python = root / ".venv" / "bin" / "python"
    # -P: a folder called `tools` where the caller happens to stand must not be taken for ours.
    return (
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(path)} exec {shlex.quote(str(python))} -P -m tools.operator"
        ' "$@"\n'
    )
