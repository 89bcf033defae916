"""One run: every file is posted, its job followed, its thumbnail fetched by the links that the API gives."""

from __future__ import annotations

import mimetypes
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

from tools.client import Answer, ImageApi, Job, JobPendingError, JobRefusedError, NoAnswerError, follow
from tools.corpus.files import thumbnail_stems
from tools.corpus.outcomes import Outcome, of_job, of_refusal
from tools.corpus.upload import UploadError, send_by_upload

CLIENTS = 2
"""So that fetching one picture overlaps with rendering the next; more would only measure the queue."""
PATIENCE_SECONDS = 180.0
INTERVAL_SECONDS = 0.2
_MOST_POSTS = 4
_UNKNOWN_TYPE = "application/octet-stream"
_EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/avif": "avif"}


class CorpusRun:
    """Sends files through one API and keeps their thumbnails in a folder."""

    def __init__(
        self,
        api: ImageApi,
        folder: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._api = api
        self._folder = folder
        self._say = say
        self._clock = clock
        self._sleep = sleep

    def warm_up(self, sample: bytes) -> None:
        """A cold stack's first seconds say nothing about a picture: samples go ahead, unreported."""

        def one(_: int) -> None:
            with suppress(NoAnswerError, JobPendingError, JobRefusedError):
                answer = self._posted(sample, _UNKNOWN_TYPE)
                if answer.status == HTTPStatus.ACCEPTED:
                    self._followed(answer)

        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(one, range(CLIENTS)))

    def send(self, files: Sequence[Path]) -> dict[Path, Outcome]:
        """The outcome of each file, in the order given."""
        stems = thumbnail_stems(files)

        def one(path: Path) -> Outcome:
            outcome = self._send(path, stems[path])
            self._say(
                f"{outcome.verdict:<9} {outcome.seconds:6.2f} s  {printable(path)}  {outcome.reason}".rstrip()
            )
            return outcome

        with ThreadPoolExecutor(CLIENTS) as clients:
            return dict(zip(files, clients.map(one, files), strict=True))

    def _send(self, path: Path, stem: str) -> Outcome:
        began = self._clock()
        try:
            answer = self._posted(path.read_bytes(), _declared_type(path))
            if answer.status != HTTPStatus.ACCEPTED:
                return of_refusal(answer, self._clock() - began)
            job = self._followed(answer)
            outcome = of_job(job, self._clock() - began)
            if outcome.verdict != "succeeded":
                return outcome
            return self._saved(outcome, self._api.fetch(job.result_url), stem)
        except JobPendingError as error:
            return Outcome("pending", self._clock() - began, str(error))
        except (JobRefusedError, NoAnswerError, UploadError) as error:
            return Outcome("failed", self._clock() - began, str(error))
        except OSError as error:
            return Outcome("failed", self._clock() - began, f"the file cannot be read: {error.strerror}")

    def _followed(self, accepted: Answer) -> Job:
        return follow(
            self._api,
            accepted.location,
            patience_seconds=PATIENCE_SECONDS,
            interval_seconds=INTERVAL_SECONDS,
            sleep=self._sleep,
        )

    def _posted(self, content: bytes, content_type: str) -> Answer:
        """The same key again where the outcome is unknown, as the API asks of its clients."""
        key = f"corpus-{uuid.uuid4()}"
        for _ in range(_MOST_POSTS - 1):
            with suppress(NoAnswerError):
                answer = self._offered(content, content_type, key)
                if answer.status != 429 and answer.status < 500:
                    return answer
            self._sleep(INTERVAL_SECONDS)
        return self._offered(content, content_type, key)

    def _offered(self, content: bytes, content_type: str, key: str) -> Answer:
        """In the request's body, or past it where the API says that it is too large for that."""
        answer = self._api.post_image(content, key=key, content_type=content_type)
        if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return send_by_upload(self._api, content, content_type, key)
        return answer

    def _saved(self, outcome: Outcome, answer: Answer, stem: str) -> Outcome:
        content_type = answer.headers.get("Content-Type", "")
        if answer.status != 200 or content_type not in _EXTENSIONS:
            reason = str(answer.problem or f"the thumbnail's link answered {answer.status} {content_type}")
            return replace(outcome, verdict="failed", reason=reason)
        name = f"{stem}.{_EXTENSIONS[content_type]}"
        (self._folder / name).write_bytes(answer.body)
        return replace(outcome, thumbnail=name)


def printable(path: Path) -> str:
    """A name as it can be shown: bytes that are no text become question marks."""
    return path.name.encode(errors="replace").decode()


def _declared_type(path: Path) -> str:
    """What the name promises, where that is a picture: the API looks at the content anyway."""
    guessed, _ = mimetypes.guess_type(path.name)
    return guessed if guessed and guessed.startswith("image/") else _UNKNOWN_TYPE
