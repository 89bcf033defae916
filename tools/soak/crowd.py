"""Many clients at once, each on a thread: they deliver pictures and see their jobs through."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from types import TracebackType
from typing import Generic, Self, TypeVar

from tools.client import ImageApi, Job, follow
from tools.soak.delivery import RefusedError, deliver
from tools.soak.photos import Photo

_POLL_SECONDS = 1.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class StoppedError(Exception):
    """The run was given up; what its clients were waiting for no longer matters."""


@dataclass(slots=True)
class Delivered(Generic[Item]):
    """`accepted` by the URL of the job; `refusals` are sentences."""

    accepted: dict[str, Item] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)


class Crowd:
    """As many threads as there are clients, for the length of a block; an error in it stops them all."""

    def __init__(self, api: ImageApi, *, clients: int, patience_seconds: float) -> None:
        self.api = api
        self._patience_seconds = patience_seconds
        self._stopped = threading.Event()
        self._pool = ThreadPoolExecutor(clients, thread_name_prefix="client")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stopped.set()
        self._pool.shutdown(cancel_futures=kind is not None)

    def deliver(self, items: Iterable[Item], photo_of: Callable[[Item], Photo]) -> Delivered[Item]:
        """Sends each item's photo until the API has accepted or refused it."""
        delivered: Delivered[Item] = Delivered()
        deliveries = {self._pool.submit(self._deliver, photo_of(item)): item for item in items}
        for delivery in as_completed(deliveries):
            try:
                delivered.accepted[delivery.result()] = deliveries[delivery]
            except RefusedError as error:
                delivered.refusals.append(str(error))
        return delivered

    def each(self, do: Callable[[str, Item], Result], jobs: dict[str, Item]) -> Iterator[Result]:
        """What `do` makes of each job's URL and item, in the order in which they end."""
        for done in as_completed([self._pool.submit(do, *job) for job in jobs.items()]):
            yield done.result()

    def follow(self, url: str) -> Job:
        """The job at its end. Raises JobPendingError, JobRefusedError and StoppedError."""
        return follow(
            self.api,
            url,
            patience_seconds=self._patience_seconds,
            interval_seconds=_POLL_SECONDS,
            sleep=self._sleep,
        )

    def _deliver(self, photo: Photo) -> str:
        answer = deliver(
            self.api,
            photo.content,
            key=f"soak-{uuid.uuid4()}",
            content_type=photo.content_type,
            patience_seconds=self._patience_seconds,
            sleep=self._sleep,
        )
        return answer.location

    def _sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise StoppedError
