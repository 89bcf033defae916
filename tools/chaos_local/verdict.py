"""What became of each accepted picture, and whether the table agrees."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto

from PIL import Image

from thumbline.domain.job import Job as Row
from thumbline.domain.job import Status
from thumbline.domain.presets import DEFAULT_PRESET_NAME
from tools.chaos_local.pictures import Picture
from tools.chaos_local.view import View
from tools.client import Job, JobPendingError, JobRefusedError, NoAnswerError
from tools.soak.crowd import Crowd
from tools.soak.photos import Photo
from tools.soak.thumbnails import BadThumbnailError, check_thumbnail

_LARGEST_DIFFERENCE = 10.0
"""Mean difference of the pixels, 0 to 255, between a thumbnail and the photo scaled by another program."""


class Ending(Enum):
    SUCCEEDED = auto()
    FAILED = auto()
    """With the code that it had to fail with."""
    LOST = auto()
    STUCK = auto()


@dataclass(slots=True)
class Outcome:
    """`lost` are accepted pictures that have not become what they had to become; `stuck` have not ended."""

    accepted: int = 0
    endings: Counter[Ending] = field(default_factory=Counter)
    kills: int = 0
    points: int = 0
    """How many named points were hit."""
    faults: list[str] = field(default_factory=list)
    """Sentences: one for each lost or stuck picture, and whatever else is not as it must be."""

    @property
    def all_is_well(self) -> bool:
        """A run that accepted, judged or killed nothing shows nothing."""
        everything_judged = self.endings.total() == self.accepted > 0
        return everything_judged and self.kills > 0 and not self.faults

    def count(self, ending: Ending, fault: str) -> None:
        self.endings[ending] += 1
        if fault:
            self.faults.append(fault)

    def __str__(self) -> str:
        return (
            f"chaos-local: {self.accepted} accepted, {self.endings[Ending.SUCCEEDED]} succeeded,"
            f" {self.endings[Ending.FAILED]} failed, {self.kills} kills,"
            f" {self.endings[Ending.LOST]} lost, {self.endings[Ending.STUCK]} stuck"
        )


def end_of(url: str, picture: Picture, crowd: Crowd, view: View) -> tuple[Ending, str]:
    """Follows the job to its end and judges it; the sentence is empty where all is as it must be."""
    try:
        job = crowd.follow(url)
        if job.status == Status.FAILED:
            return _judge_failure(url, picture, job)
        if picture.failure is not None:
            return Ending.LOST, f"{url} succeeded, but had to fail as {picture.failure}"
        content = check_thumbnail(crowd.api, job.result_url, picture.photo.thumbnail_size)
        check_content(content, picture.photo, view.job(job.job_id))
    except JobPendingError as error:
        return Ending.STUCK, str(error)
    except (BadThumbnailError, JobRefusedError, NoAnswerError) as error:
        return Ending.LOST, f"{url}: {error}"
    return Ending.SUCCEEDED, ""


def _judge_failure(url: str, picture: Picture, job: Job) -> tuple[Ending, str]:
    code = job.problem.code if job.problem is not None else "no code"
    if code == picture.failure:
        return Ending.FAILED, ""
    wanted = "had to succeed" if picture.failure is None else f"had to fail as {picture.failure}"
    return Ending.LOST, f"{url} failed as {code}, but {wanted}"


def check_content(content: bytes, photo: Photo, row: Row | None) -> None:
    """I3. Raises BadThumbnailError unless the bytes are those of the row, and show the photo."""
    if row is None or row.results[DEFAULT_PRESET_NAME].sha256 != hashlib.sha256(content).hexdigest():
        raise BadThumbnailError("the thumbnail's bytes are not those that the row points at")
    with Image.open(io.BytesIO(content)) as thumbnail, Image.open(io.BytesIO(photo.content)) as original:
        size = thumbnail.size
        ours = thumbnail.convert("RGB").tobytes()
        theirs = original.convert("RGB").resize(size, Image.Resampling.LANCZOS).tobytes()
    difference = sum(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / len(ours)
    if difference > _LARGEST_DIFFERENCE:
        raise BadThumbnailError(f"the thumbnail shows another picture (mean difference {difference:.1f})")


def check_balance(accepted: set[str], since: int, view: View) -> list[str]:
    """I15 over the table: every accepted job has one row, and no row exists that nobody was told of."""
    rows = list(view.accepted_since(since))
    counts = Counter("deleted" if row.is_deleted else row.status.value for row in rows)
    faults = []
    if missing := accepted - {row.job_id for row in rows}:
        faults.append(f"accepted without a row: {', '.join(sorted(missing))}")
    if extra := {row.job_id for row in rows} - accepted:
        faults.append(f"rows that no client was told of: {', '.join(sorted(extra))}")
    if len(rows) != len(accepted):
        listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        faults.append(f"{len(accepted)} accepted are not {listed}")
    return faults


def check_dead_letters(before: int, after: int) -> list[str]:
    """I9: nothing that was sent spends its attempts, so no copy may have come."""
    come = after - before
    return [f"{come} copies in the dead-letter queue of jobs that had attempts left"] if come > 0 else []


def job_id_of(url: str) -> str:
    return url.rpartition("/")[2]
