"""What can go wrong between `up` and a ready stack, as sentences for the person at the keyboard."""

from __future__ import annotations

from pathlib import Path


class LocalStackError(Exception):
    """The local stack cannot do what was asked: one sentence, and the log that has the details, if any."""

    def __init__(self, sentence: str, *, log: Path | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.log = log

    def __str__(self) -> str:
        return self.sentence if self.log is None else f"{self.sentence} Log: {self.log}"


class PortTakenError(LocalStackError):
    """The port that was asked for belongs to somebody else."""


class AlreadyRunningError(LocalStackError):
    """Another process holds this state directory's lock."""


class NotReadyError(LocalStackError):
    """There is no ready stack to talk to."""
