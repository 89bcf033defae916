"""What stops a deployment before, or while, it changes an account: one sentence that says what to do."""

from __future__ import annotations


class DeployError(Exception):
    """The message is for the person at the terminal."""
