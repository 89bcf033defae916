"""What can go wrong in set-up, as sentences for the person who started it."""

from __future__ import annotations


class SetupError(Exception):
    """Set-up cannot go on; the text says why and what to do."""


class MissingToolsError(SetupError):
    """One line for each tool that is missing, broken or too old."""


class CommandFailedError(SetupError):
    """A program that set-up started has failed; the text ends with the last lines that it printed."""
