"""One soak run: deliver everything, follow everything to its end, and look at every thumbnail."""

from __future__ import annotations

import io
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from PIL import Image

from tools.client import ImageApi, JobPendingError, JobRefusedError, NoAnswerError, follow
from tools.soak.delivery import RefusedError, deliver
from tools.soak.photos import Photo

_POLL_SECONDS = 1.0
_SIZE_TOLERANCE_PIXELS = 1
"""Renderers round the shorter edge in their own ways."""


class BadThumbnailError(Exception):
    """A job SUCCEEDED, but what its link serves is not the thumbnail that it owes."""


class StoppedError(Exception):
    """The run was given up; what its clients were waiting for no longer matters."""


@dataclass(slots=True)
class Outcome:
    """What became of the photos. `lost` are accepted jobs that neither ended nor show a right thumbnail."""

    accepted: int = 0
    succeeded: int = 0
    failed: int = 0
    refused: int = 0
    kills: int = 0

    @property
    def lost(self) -> int:
        return self.accepted - self.succeeded - self.failed

    @property
    def all_succeeded(self) -> bool:
        return self.refused == 0 and self.succeeded == self.accepted > 0

    def __str__(self) -> str:
        return (
            f"soak: {self.accepted} accepted, {self.succeeded} succeeded, {self.failed} failed,"
            f" {self.kills} kills, {self.lost} lost"
        )


class Soak:
    """Sends and follows photos from as many threads as there are clients."""

    def __init__(
        self, api: ImageApi, say: Callable[[str], None], *, clients: int, patience_seconds: float
    ) -> None:
        self._api = api
        self._say = say
        self._clients = clients
        self._patience_seconds = patience_seconds
        self._stopped = threading.Event()

    def run(self, photos: Iterable[Photo]) -> Outcome:
        """Raises nothing for a lost job: it is counted, and explained in a line of its own."""
        with ThreadPoolExecutor(self._clients, thread_name_prefix="client") as clients:
            try:
                return self._run(photos, clients)
            except BaseException:
                self._stopped.set()
                clients.shutdown(cancel_futures=True)
                raise

    def _run(self, photos: Iterable[Photo], clients: ThreadPoolExecutor) -> Outcome:
        outcome = Outcome()
        began = time.monotonic()
        deliveries = {clients.submit(self._deliver, photo): photo for photo in photos}
        accepted: dict[str, Photo] = {}
        for delivery in as_completed(deliveries):
            try:
                accepted[delivery.result()] = deliveries[delivery]
            except RefusedError as error:
                outcome.refused += 1
                self._say(f"  refused: {error}")
        outcome.accepted = len(accepted)
        self._say(f"  {outcome.accepted} accepted after {time.monotonic() - began:.1f} s")
        for ending in as_completed([clients.submit(self._end, *job) for job in accepted.items()]):
            self._count(ending.result(), outcome)
        self._say(f"  all looked at after {time.monotonic() - began:.1f} s")
        return outcome

    def _deliver(self, photo: Photo) -> str:
        answer = deliver(
            self._api,
            photo.content,
            key=f"soak-{uuid.uuid4()}",
            content_type=photo.content_type,
            patience_seconds=self._patience_seconds,
            sleep=self._sleep,
        )
        return answer.location

    def _end(self, url: str, photo: Photo) -> str:
        """SUCCEEDED with a right thumbnail, FAILED, or the sentence that says why the job counts as lost."""
        try:
            job = follow(
                self._api,
                url,
                patience_seconds=self._patience_seconds,
                interval_seconds=_POLL_SECONDS,
                sleep=self._sleep,
            )
            if job.status == "SUCCEEDED":
                check_thumbnail(self._api, job.result_url, photo.thumbnail_size)
            else:
                self._say(f"  {url}: {job.problem}")
        except (JobPendingError, BadThumbnailError, NoAnswerError, JobRefusedError) as error:
            return str(error)
        return job.status

    def _sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise StoppedError

    def _count(self, ending: str, outcome: Outcome) -> None:
        if ending == "SUCCEEDED":
            outcome.succeeded += 1
        elif ending == "FAILED":
            outcome.failed += 1
        else:
            self._say(f"  lost: {ending}")


def check_thumbnail(api: ImageApi, url: str, expected: tuple[int, int]) -> None:
    """Raises BadThumbnailError unless the link serves a whole picture of the expected size in pixels."""
    answer = api.fetch(url)
    if answer.status != 200:
        raise BadThumbnailError(f"the thumbnail's link answered {answer.problem or answer.status}")
    try:
        with Image.open(io.BytesIO(answer.body)) as thumbnail:
            thumbnail.load()
            size = thumbnail.size
    except OSError as error:
        raise BadThumbnailError(f"the thumbnail does not decode: {error}") from error
    if any(abs(is_ - should) > _SIZE_TOLERANCE_PIXELS for is_, should in zip(size, expected, strict=True)):
        raise BadThumbnailError(f"the thumbnail is {size[0]}x{size[1]}, not {expected[0]}x{expected[1]}")
