"""Why a command did not do what was asked, each as one sentence for the person at the terminal."""

from __future__ import annotations


class OperatorError(Exception):
    """Nothing was done, or not all of it."""


class NotConfirmedError(OperatorError):
    """A change that nobody said yes to."""
