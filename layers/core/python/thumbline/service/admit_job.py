"""Refuse a new job to an owner who has too many open ones."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from thumbline.domain.errors import DependencyUnavailableError, ThumblineError
from thumbline.ports.clock import Clock
from thumbline.ports.listing import OwnerIndex

FRESH_MS = 2_000
"""How long one look at the index serves: a busy owner costs a look every two seconds, not one a request."""
MAX_REMEMBERED_OWNERS = 1_000


class TooManyOpenJobsError(ThumblineError):
    """`limit` jobs of the owner are open; waiting helps."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} jobs are open")
        self.limit = limit


@dataclass(slots=True)
class _Look:
    at: int
    open_jobs: int


@dataclass(slots=True)
class OpenJobs:
    """The limit, and what this process has seen of each owner.

    An approximation on purpose. Jobs finish roughly in the order in which they came, so the open ones are the
    newest: it looks at the `limit` newest and counts the open ones among them. Between two looks it adds what
    it admits itself; processes do not know of each other's, so an owner may exceed the limit by what all of
    them admit within two seconds.
    """

    index: OwnerIndex
    clock: Clock
    limit: int
    _looks: dict[str, _Look] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, owner: str) -> None:
        """Raises TooManyOpenJobsError. An index that does not answer refuses nobody."""
        now = self.clock.now()
        with self._lock:
            look = self._looks.get(owner)
            if look is None or now - look.at >= FRESH_MS:
                look = self._look(owner, now)
            if look.open_jobs >= self.limit:
                raise TooManyOpenJobsError(self.limit)
            look.open_jobs += 1

    def _look(self, owner: str, now: int) -> _Look:
        try:
            newest = self.index.newest(owner, before=None, limit=self.limit)
        except DependencyUnavailableError:
            newest = []
        if len(self._looks) >= MAX_REMEMBERED_OWNERS:
            self._looks.clear()
        look = self._looks[owner] = _Look(now, sum(job.is_open for job in newest))
        return look
