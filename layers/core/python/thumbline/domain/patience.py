"""How long our clients wait for the services that they call. What they must fit: `infra/waiting.py`."""

from __future__ import annotations

from dataclasses import dataclass

ANSWER_SECONDS = 1
"""Kept back for making and sending our answer, whatever the last call came to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Time-outs of one try in seconds, and how often a call is tried."""

    connect_seconds: float
    read_seconds: float
    tries: int

    @property
    def try_seconds(self) -> float:
        return self.connect_seconds + self.read_seconds

    @property
    def backoff_seconds(self) -> float:
        """The longest pause before another try, in botocore's standard mode: below 1 s, 2 s, 4 s …
        https://docs.aws.amazon.com/boto3/latest/guide/retries.html"""
        return 0.0 if self.tries == 1 else float(2 ** (self.tries - 2))

    @property
    def call_seconds(self) -> float:
        """A whole call that nobody answers, with the pauses between its tries."""
        return self.tries * self.try_seconds + float(2 ** (self.tries - 1) - 1)

    @property
    def answered_seconds(self) -> float:
        """A try, the pause after it, in which nobody looks at the time, and our own answer."""
        return self.try_seconds + self.backoff_seconds + ANSWER_SECONDS


ANSWERING = Patience(connect_seconds=1, read_seconds=3, tries=2)
"""A client waits for us meanwhile."""
COPYING = Patience(connect_seconds=1, read_seconds=15, tries=1)
"""S3 answers a copy when it is done, for 100 MB after a second or two. A client repeats the whole request."""
ATTEMPTING = Patience(connect_seconds=1, read_seconds=3, tries=2)
"""A claim's own time counts against its lease."""
WORKING = Patience(connect_seconds=2, read_seconds=5, tries=3)
"""Nobody waits; the function's own time-out is a minute or two."""
RECONCILING = Patience(connect_seconds=1, read_seconds=3, tries=2)
"""A pass must end, whatever hangs."""


def beating(call_seconds: int) -> Patience:
    """A heartbeat's call, of this many seconds at most. The next beat is its other try."""
    return Patience(connect_seconds=call_seconds / 4, read_seconds=3 * call_seconds / 4, tries=1)
