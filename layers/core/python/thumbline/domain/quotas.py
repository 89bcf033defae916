"""How much one owner may ask: requests per window, after the IETF draft "RateLimit header fields for HTTP".
https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/

Windows are fixed and aligned to the epoch, so that one conditional update counts a request and no clock needs
to be read back. The price: around a window's edge an owner may be served twice its quota at once.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW_SECONDS = 10
POLICY_NAME = "requests"


@dataclass(frozen=True, slots=True)
class Quota:
    requests_per_second: int

    @property
    def requests(self) -> int:
        """What one window admits."""
        return self.requests_per_second * WINDOW_SECONDS

    def policy_field(self) -> str:
        """The value of `RateLimit-Policy`."""
        return f'"{POLICY_NAME}";q={self.requests};w={WINDOW_SECONDS}'


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left after this request. `used` is None where the count could not be had."""

    quota: Quota
    used: int | None
    reset_seconds: int

    @property
    def refused(self) -> bool:
        return self.used is not None and self.used > self.quota.requests

    def field(self) -> str:
        """The value of `RateLimit`."""
        remaining = max(0, self.quota.requests - (self.used or 0))
        return f'"{POLICY_NAME}";r={remaining};t={self.reset_seconds}'


def window_of(now: int) -> int:
    """The window's number. `now` in epoch milliseconds."""
    return now // (WINDOW_SECONDS * 1000)


def window_end_seconds(window: int) -> int:
    """Epoch seconds."""
    return (window + 1) * WINDOW_SECONDS


def reset_seconds(now: int) -> int:
    """Whole seconds until the next window, 1 to the window's length."""
    return window_end_seconds(window_of(now)) - now // 1000
