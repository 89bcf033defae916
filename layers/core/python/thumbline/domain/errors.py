"""Errors are decisions: each class says what the caller does next, so nobody matches message text."""

from __future__ import annotations

from enum import StrEnum


class FailureCode(StrEnum):
    """Stable reasons that clients, operators and the redrive command may rely on.

    `internal` is how a code of a later version is read. Nobody writes it, but as the cause of a job that then
    spends its attempts.
    """

    NOT_AN_IMAGE = "not_an_image"
    UNSUPPORTED_TYPE = "unsupported_type"
    TOO_MANY_PIXELS = "too_many_pixels"
    TOO_MANY_FRAMES = "too_many_frames"
    TOO_COMPLEX = "too_complex"
    TOO_LARGE = "too_large"
    TRUNCATED = "truncated"
    CORRUPT = "corrupt"
    EMPTY = "empty"
    ORIGINAL_MISSING = "original_missing"
    BAD_MESSAGE = "bad_message"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    EXPIRED = "expired"
    DELETED = "deleted"
    RENDER_CRASHED = "render_crashed"
    RENDER_TIMED_OUT = "render_timed_out"
    DEPENDENCY_UNAVAILABLE = "dependency_unavailable"
    INTERNAL = "internal"


class ThumblineError(Exception):
    """Base of every error that this package raises on purpose."""


class SettingsError(ThumblineError):
    """A setting is missing or malformed; the message names the environment variable. Fails the cold start."""


class PermanentError(ThumblineError):
    """The same input will fail again: record the reason, acknowledge, never retry."""

    def __init__(self, code: FailureCode, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class TransientError(ThumblineError):
    """Another attempt may succeed; this one is spent."""

    def __init__(self, code: FailureCode, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class DependencyUnavailableError(ThumblineError):
    """A dependency is down, throttled, or its outcome is unknown: retry later and give the attempt back."""

    def __init__(self, dependency: str, detail: str) -> None:
        super().__init__(f"{dependency}: {detail}")
        self.dependency = dependency
        self.detail = detail
