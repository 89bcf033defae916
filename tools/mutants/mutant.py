"""A mutant: one changed passage of one module, and the test that must fail for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CORE = PROJECT / "layers" / "core" / "python"


class StaleMutantError(Exception):
    """The passage is not in the module exactly once: the code has moved on and the mutant must follow."""


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    module: str
    """Inside the package thumbline, or a function's with its full name."""
    passage: str
    replacement: str
    killed_by: str
    """A test's node id."""

    @property
    def full_module(self) -> str:
        return self.module if self._is_a_functions else f"thumbline.{self.module}"

    @property
    def _is_a_functions(self) -> bool:
        return self.module.startswith("functions.")

    def source(self) -> str:
        """The mutated module. Raises StaleMutantError."""
        root = PROJECT if self._is_a_functions else CORE
        text = (root / f"{self.full_module.replace('.', '/')}.py").read_text()
        if text.count(self.passage) != 1:
            raise StaleMutantError(
                f"{self.name}: the passage is {text.count(self.passage)} times in the module"
            )
        return text.replace(self.passage, self.replacement)
