"""The time that one request has: no call begins that could not end, and be answered, within it."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError

from thumbline.domain.patience import Patience
from thumbline.ports.clock import RemainingSeconds

Client = TypeVar("Client", bound=Any)


class OutOfTimeError(BotoCoreError):
    """The dependency was slow, and the request has no time left for another try."""

    fmt = "No time is left for another try"


class RequestTime:
    """Shared by a function's clients. A Lambda process has one request at a time."""

    def __init__(self) -> None:
        self._remaining_seconds: RemainingSeconds = lambda: math.inf

    def begin(self, remaining_seconds: RemainingSeconds) -> None:
        self._remaining_seconds = remaining_seconds

    def limit(self, client: Client, patience: Patience) -> Client:
        """From here on, a try of this client raises OutOfTimeError where the time could run out under it."""
        needed = patience.answered_seconds

        def check(**_event: object) -> None:
            if self._remaining_seconds() < needed:
                raise OutOfTimeError

        # Before all others: nothing may be sent any more.
        client.meta.events.register_first("before-send", check)
        return client
