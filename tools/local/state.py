"""What a running stack tells everybody else, in one file that is replaced as a whole."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.local.errors import NotReadyError
from tools.local.processes import ProcessIdentity


@dataclass(frozen=True, slots=True)
class StackState:
    """`url` is the API's base URL, `outputs` are the deployed stack's, `run` is its temporary directory."""

    owner: ProcessIdentity
    url: str
    ready: bool
    emulator_url: str
    run: str
    outputs: Mapping[str, str]

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(asdict(self), indent=2) + "\n")
        draft.replace(path)


def read_state(path: Path) -> StackState | None:
    """The state of the stack that is alive; None when there is none, or only what a crash left."""
    try:
        document = json.loads(path.read_text())
        owner = document["owner"]
        state = StackState(
            owner=ProcessIdentity(owner["pid"], owner["started"], tuple(owner["command"])),
            url=document["url"],
            ready=document["ready"],
            emulator_url=document["emulator_url"],
            run=document["run"],
            outputs=document["outputs"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return state if state.owner.is_alive() else None


def ready_state(path: Path) -> StackState:
    """Raises NotReadyError, saying whether it is worth waiting."""
    state = read_state(path)
    if state is None:
        raise NotReadyError("No local stack is running: start one with `make local`.")
    if not state.ready:
        raise NotReadyError("The local stack is still starting: try again in a moment.")
    return state
