"""A mutant: one changed passage of one module, and the test that must fail for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CORE = Path(__file__).resolve().parents[2] / "layers" / "core" / "python"


class StaleMutantError(Exception):
    """The passage is not in the module exactly once: the code has moved on and the mutant must follow."""


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    module: str
    """Inside the package thumbline."""
    passage: str
    replacement: str
    killed_by: str
    """A test's node id."""

    @property
    def full_module(self) -> str:
        return f"thumbline.{self.module}"

    def source(self) -> str:
        """The mutated module. Raises StaleMutantError."""
        text = (CORE / "thumbline" / f"{self.module.replace('.', '/')}.py").read_text()
        if text.count(self.passage) != 1:
            raise StaleMutantError(
                f"{self.name}: the passage is {text.count(self.passage)} times in the module"
            )
        return text.replace(self.passage, self.replacement)
