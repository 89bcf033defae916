"""The protocol's numbers as one value. Where they come from and why: `infra/topology.py`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """Durations carry their unit in their name; the protocol itself counts in epoch milliseconds."""

    lease_seconds: int
    """How long a claim holds without a heartbeat."""
    skew_seconds: int
    """How far two clocks may differ before a lease is misjudged."""
    heartbeat_seconds: int
    attempt_cap: int
    """Claims allowed per generation."""
    function_timeout_seconds: int
    """The longest that a worker can outlive its lease."""
    deadline_seconds: int
    """An open job older than this fails as expired."""
    retention_days: int
    """Terminal rows and their objects are kept this long; 0 keeps them for ever."""
    queued_patience_seconds: int
    """A job QUEUED and available for this long has lost its message, unless the backlog explains the wait."""
    rescue_patience_seconds: int
    """A dead lease older than this is beyond what the queue's own redelivery needs."""
    backoff_base_seconds: int
    backoff_ceiling_seconds: int
