"""One soak run: deliver everything, follow everything to its end, and look at every thumbnail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tools.client import ImageApi, JobPendingError, JobRefusedError, NoAnswerError
from tools.soak.crowd import Crowd
from tools.soak.photos import Photo
from tools.soak.thumbnails import BadThumbnailError, check_thumbnail


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

    def run(self, photos: Iterable[Photo]) -> Outcome:
        """Raises nothing for a lost job: it is counted, and explained in a line of its own."""
        with Crowd(self._api, clients=self._clients, patience_seconds=self._patience_seconds) as crowd:
            return self._run(photos, crowd)

    def _run(self, photos: Iterable[Photo], crowd: Crowd) -> Outcome:
        outcome = Outcome()
        began = time.monotonic()
        delivered = crowd.deliver(photos, lambda photo: photo)
        for refusal in delivered.refusals:
            outcome.refused += 1
            self._say(f"  refused: {refusal}")
        outcome.accepted = len(delivered.accepted)
        self._say(f"  {outcome.accepted} accepted after {time.monotonic() - began:.1f} s")
        for ending in crowd.each(lambda url, photo: self._end(crowd, url, photo), delivered.accepted):
            self._count(ending, outcome)
        self._say(f"  all looked at after {time.monotonic() - began:.1f} s")
        return outcome

    def _end(self, crowd: Crowd, url: str, photo: Photo) -> str:
        """SUCCEEDED with a right thumbnail, FAILED, or the sentence that says why the job counts as lost."""
        try:
            job = crowd.follow(url)
            if job.status == "SUCCEEDED":
                check_thumbnail(self._api, job.result_url, photo.thumbnail_size)
            else:
                self._say(f"  {url}: {job.problem}")
        except (JobPendingError, BadThumbnailError, NoAnswerError, JobRefusedError) as error:
            return str(error)
        return job.status

    def _count(self, ending: str, outcome: Outcome) -> None:
        if ending == "SUCCEEDED":
            outcome.succeeded += 1
        elif ending == "FAILED":
            outcome.failed += 1
        else:
            self._say(f"  lost: {ending}")
