"""What can go wrong before anything is deployed, each as one sentence for the person at the terminal."""

from __future__ import annotations


class InfraError(Exception):
    """Base of every error that synthesis reports without a traceback."""


class StageError(InfraError):
    """The stage is unknown, or its settings contradict each other."""


class TopologyError(InfraError):
    """Two related numbers break their relation; the message names the relation and both numbers."""


class AssetError(InfraError):
    """The code or a layer to deploy is missing, incomplete or too large."""


class BundleError(InfraError):
    """A third-party layer could not be built; the message names the package and the cause."""
