"""Count a request against its owner's quota."""

from __future__ import annotations

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.quotas import Allowance, Quota, reset_seconds, window_end_seconds, window_of
from thumbline.ports.access import QuotaCounter
from thumbline.ports.clock import Clock


def admit_request(owner: str, quota: Quota, counter: QuotaCounter, clock: Clock) -> Allowance:
    """What the owner has left. A counter that does not answer refuses nobody: only fairness is at stake."""
    now = clock.now()
    window = window_of(now)
    try:
        used = counter.count(owner, window, window_end_seconds(window))
    except DependencyUnavailableError:
        used = None
    return Allowance(quota, used, reset_seconds(now))
