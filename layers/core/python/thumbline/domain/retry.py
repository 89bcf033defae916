"""Delays between attempts and between deliveries. Randomness comes in as a number from 0 to 1."""

from __future__ import annotations

MAX_VISIBILITY_SECONDS = 43_200
"""SQS refuses a visibility timeout above 12 hours.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""
MAX_DELAY_SECONDS = 900
"""SQS refuses a message delay above 15 minutes."""

_UNREADABLE_BASE_SECONDS = 30
_UNREADABLE_CEILING_SECONDS = 900
_BOUNCE_JITTER_SECONDS = 2.0


def backoff_seconds(attempts: int, *, base_seconds: int, ceiling_seconds: int, jitter: float) -> float:
    """Exponential with full jitter: anywhere from 0 to base x 2^(attempts - 1), capped.
    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/"""
    return jitter * min(ceiling_seconds, base_seconds * 2.0 ** max(0, min(attempts, 32) - 1))


def unreadable_row_seconds(receive_count: int, jitter: float) -> int:
    """How long a delivery waits whose row could not be read or claimed: min(30 x 2^(receives - 1), 900),
    jittered down to no less than half, so that a table that recovers does not meet them all at once."""
    longest: int = min(
        _UNREADABLE_BASE_SECONDS * 2 ** max(0, min(receive_count, 16) - 1), _UNREADABLE_CEILING_SECONDS
    )
    return max(1, round(longest * (0.5 + jitter / 2)))


def bounce_seconds(retry_at: int, now: int, jitter: float) -> int:
    """The rest of a foreign lease or a backoff and up to two seconds of jitter; whole, as SQS wants."""
    remaining = max(0, retry_at - now) / 1000 + jitter * _BOUNCE_JITTER_SECONDS
    return min(MAX_VISIBILITY_SECONDS, max(1, round(remaining + 0.5)))


def delay_seconds(available_at: int, now: int) -> int:
    """How long a published message sleeps so that it does not arrive before its job may be claimed."""
    return min(MAX_DELAY_SECONDS, max(0, -(-(available_at - now) // 1000)))
