"""`python -m tools.setup.lock`: renews every lock from its input, keeping pins that still fit.

The layers and the emulator are constrained by the root's lock, so that one package has one version
everywhere. Locks carry no address, so that they serve behind any mirror.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.setup.commands import run, say
from tools.setup.errors import CommandFailedError

_ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = (".", "layers/runtime", "layers/imaging", "tools/local", "tools/fuzz_api", "tools/setup")
_OPTIONS = (
    "--universal",
    "--fork-strategy=fewest",
    "--generate-hashes",
    "--no-header",
    "--no-annotate",
    "--python-version=3.11",
    "--no-config",
    "--quiet",
)


def renew_locks(root: Path) -> None:
    """Raises CommandFailedError where an input cannot be resolved."""
    uv = Path(sys.executable).parent / "uv"
    for folder in _FOLDERS:
        source, lock = Path(folder, "requirements.in"), Path(folder, "requirements.txt")
        constraint = [] if folder == "." else ["--constraint", "requirements.txt"]
        run(
            [uv, "pip", "compile", *_OPTIONS, source, "-o", lock, *constraint],
            action=f"locking {source}",
            folder=root,
        )
        say(f"locked {lock}")
    run(
        ["npm", "install", "--package-lock-only", "--ignore-scripts"],
        action="locking package.json",
        folder=root,
    )
    say("locked package-lock.json")


if __name__ == "__main__":
    try:
        renew_locks(_ROOT)
    except CommandFailedError as error:
        say(str(error))
        sys.exit(1)
