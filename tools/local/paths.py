"""Where the local stack keeps things. Everything lives under `.local/`, which is never committed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.local.identity import Identity

PROJECT_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Paths:
    """`project` is what gets deployed; `state` belongs to one stack, so that tests can have their own.

    The synthesized assembly is shared by all stacks of a project that have the same kind of identity: it
    depends on its inputs alone.
    """

    project: Path
    state: Path
    identity: Identity = "local"

    @classmethod
    def default(cls, identity: Identity = "local") -> Paths:
        return cls(project=PROJECT_ROOT, state=PROJECT_ROOT / ".local", identity=identity)

    @property
    def lock(self) -> Path:
        return self.state / "lock"

    @property
    def state_file(self) -> Path:
        return self.state / "state.json"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def run(self) -> Path:
        """Removed whole when the stack stops, or by the next start after a crash."""
        return self.state / "run"

    @property
    def emulator_temporary(self) -> Path:
        """The emulator unpacks function code here, one folder per worker process."""
        return self.run / "tmp"

    @property
    def outputs_file(self) -> Path:
        return self.run / "outputs.json"

    @property
    def assembly_cache(self) -> Path:
        name = "assembly" if self.identity == "local" else f"assembly-{self.identity}"
        return self.project / ".local" / name

    @property
    def emulator_python(self) -> Path:
        return self.project / ".venv-emulator" / "bin" / "python"

    @property
    def cdk(self) -> Path:
        return self.project / "node_modules" / ".bin" / "cdk"
