"""Where the reconciler keeps its snapshot."""

from __future__ import annotations

from typing import Protocol

from thumbline.domain.snapshot import Snapshot


class SnapshotStore(Protocol):
    def read_snapshot(self) -> Snapshot | None:
        """A consistent read. Raises DependencyUnavailableError."""
        ...

    def write_snapshot(self, snapshot: Snapshot) -> None:
        """The last writer wins. Raises DependencyUnavailableError."""
        ...
