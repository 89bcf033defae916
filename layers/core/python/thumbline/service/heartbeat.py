"""Keeps one batch alive while its records are worked on: the lease of one, the visibility of all.

Recovery from a killed worker then takes one lease instead of the queue's whole visibility timeout. Before the
first claim of a batch nothing is shortened: with a table that is down, short timers would only burn receives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.job import Job
from thumbline.domain.timings import Timings
from thumbline.domain.transition import Moment, TransitionRefusedError
from thumbline.domain.transitions.attempt import extend_lease
from thumbline.ports.clock import Clock, Ids, RemainingSeconds
from thumbline.ports.jobs import JobStore
from thumbline.ports.queue import VisibilityChange, VisibilityControl
from thumbline.service.pulse import Pulse, ThreadPulse

VISIBILITY_MARGIN_SECONDS = 2
"""A message reappears just after its lease is over on every clock, so that its receiver can claim."""


class Heartbeat:
    """A context manager around one batch; after it no beat runs any more."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        queue: VisibilityControl,
        clock: Clock,
        ids: Ids,
        timings: Timings,
        remaining_seconds: RemainingSeconds,
        new_pulse: Callable[[], Pulse] = ThreadPulse,
    ) -> None:
        self._jobs = jobs
        self._queue = queue
        self._clock = clock
        self._ids = ids
        self._timings = timings
        self._remaining_seconds = remaining_seconds
        self._held: dict[str, None] = {}
        self._leased: Job | None = None
        self._lost = False
        self._begun = False
        self._pulse = new_pulse()
        self._lock = self._pulse.lock

    def __enter__(self) -> Self:
        self._pulse.start(self.beat, self._timings.heartbeat_seconds)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pulse.stop()

    def hold(self, receipt_handles: Sequence[str]) -> None:
        """Records that wait for their turn; held from the batch's first claim on."""
        with self._lock:
            self._held.update(dict.fromkeys(receipt_handles))

    def begin(self, claimed: Job) -> None:
        """An attempt starts: its lease and every held message now last one lease from here.

        A lease counts from when its claim was sent. One that was heard late has little of it left.
        """
        with self._lock:
            self._leased = claimed
            self._lost = False
            self._begun = True
            if self._age_ms(claimed) >= self._timings.heartbeat_seconds * 1000:
                self._extend_lease(claimed)
            self._extend_visibility()

    def end(self) -> bool:
        """The attempt is over: no beat touches its lease again. False where the lease was lost meanwhile."""
        with self._lock:
            self._leased = None
            return not self._lost

    def leave(self, receipt_handle: str) -> None:
        """The record gets a timer of its own; no beat may overwrite it."""
        with self._lock:
            self._held.pop(receipt_handle, None)

    @property
    def has_begun(self) -> bool:
        """A claim of this batch has succeeded."""
        with self._lock:
            return self._begun

    @property
    def lost(self) -> bool:
        """Someone else owns the job now: abandon, write nothing."""
        with self._lock:
            return self._lost

    def beat(self) -> None:
        """One extension of everything that is held. A failed one is made up for by the next."""
        with self._lock:
            if not self._begun or self._remaining_seconds() <= 0:
                return
            if self._leased is not None:
                self._extend_lease(self._leased)
            self._extend_visibility()

    def _age_ms(self, claimed: Job) -> int:
        sent_at = (claimed.lease_expires_at or 0) - self._timings.lease_seconds * 1000
        return self._clock.now() - sent_at

    def _extend_lease(self, leased: Job) -> None:
        moment = Moment(self._clock.now(), self._ids.write_id(), self._timings)
        try:
            self._jobs.apply(leased.job_id, extend_lease(leased.fencing_token, moment))
        except TransitionRefusedError:
            self._lost = True
            self._leased = None
        except DependencyUnavailableError:
            return

    def _extend_visibility(self) -> None:
        seconds = self._timings.lease_seconds + self._timings.skew_seconds + VISIBILITY_MARGIN_SECONDS
        self._queue.change_visibility([VisibilityChange(handle, seconds) for handle in self._held])
