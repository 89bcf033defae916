"""One demo run: every picture is posted, its job followed, its thumbnail saved."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.client import Answer, ImageApi, Job, JobPendingError, JobRefusedError, NoAnswerError, follow
from tools.demo.pictures import Picture, PictureError, ThumbnailNames, read_picture

PATIENCE_SECONDS = 180.0
"""Beyond a lost worker and its redelivery (about 40 s), short of boring anybody to death."""
INTERVAL_SECONDS = 0.1
"""Much oftener than Retry-After asks: the demo is here to show each change."""

_EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}


@dataclass(slots=True)
class Tally:
    accepted: int = 0
    succeeded: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return f"demo: {self.accepted} accepted, {self.succeeded} succeeded, {self.failed} failed"

    @property
    def all_succeeded(self) -> bool:
        return self.failed == 0 and self.succeeded == self.accepted > 0


class Demo:
    """Shows each picture's way. Refusals, failed jobs and missing files count as failed, with the reason."""

    def __init__(
        self,
        api: ImageApi,
        folder: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._folder = folder
        self._say = say
        self._clock = clock
        self._running_seen = False
        self._names = ThumbnailNames()
        self.tally = Tally()

    def show(self, path: Path) -> None:
        self._running_seen = False
        self._say(f"\n{path}")
        try:
            self._show(read_picture(path))
        except (PictureError, NoAnswerError, JobPendingError, JobRefusedError) as error:
            self.tally.failed += 1
            self._say(f"  {error}")

    def _show(self, picture: Picture) -> None:
        began = self._clock()
        answer = self._api.post_image(
            picture.content, key=f"demo-{uuid.uuid4()}", content_type=picture.content_type
        )
        if answer.status != 202:
            self.tally.failed += 1
            self._say(f"  refused with {_explain(answer)}")
            return
        self.tally.accepted += 1
        accepted = answer.json()
        self._say(f"  202 after {self._clock() - began:.2f} s: {accepted['job_id']}")
        self._say_status(accepted["status"], self._clock() - began)
        job = follow(
            self._api,
            answer.location,
            patience_seconds=PATIENCE_SECONDS,
            interval_seconds=INTERVAL_SECONDS,
            seen=accepted["status"],
            on_change=lambda job: self._show_change(job, self._clock() - began),
        )
        if job.status == "SUCCEEDED":
            self._save(job, picture)
        else:
            self.tally.failed += 1
            self._say(f"  {job.problem or 'failed without a reason'}")

    def _show_change(self, job: Job, seconds: float) -> None:
        """A warm worker is done between two looks; then the row tells when it began."""
        if job.status == "RUNNING":
            self._running_seen = True
        elif not self._running_seen and job.seconds_until_start is not None:
            self._say_status("RUNNING", job.seconds_until_start)
        self._say_status(job.status, seconds)

    def _say_status(self, status: str, seconds: float) -> None:
        self._say(f"  {status:<9} {seconds:6.2f} s")

    def _save(self, job: Job, picture: Picture) -> None:
        answer = self._api.fetch(job.result_url)
        content_type = answer.headers.get("Content-Type", "")
        if answer.status != 200 or content_type not in _EXTENSIONS:
            self.tally.failed += 1
            self._say(f"  the thumbnail's link answered {_explain(answer)}")
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / self._names.choose(picture.path, _EXTENSIONS[content_type])
        target.write_bytes(answer.body)
        self.tally.succeeded += 1
        self._say(f"  saved {target} ({len(answer.body):,} bytes)")


def _explain(answer: Answer) -> str:
    return str(answer.problem or f"{answer.status}: {answer.text[:200]}")
