"""From an original to finished thumbnails under their keys."""

from __future__ import annotations

from collections.abc import Callable

from thumbline.domain.errors import FailureCode, PermanentError
from thumbline.domain.job import Job, Result
from thumbline.domain.keys import thumbnail_key
from thumbline.domain.signatures import mismatch_note
from thumbline.ports.objects import ObjectMissingError
from thumbline.service.worker import Worker


def make_thumbnails(
    job: Job, worker: Worker, *, wall_seconds: float, is_lost: Callable[[], bool]
) -> dict[str, Result] | None:
    """Every owed thumbnail, stored; None where the lease was lost on the way.

    The keys derive from the job and the content, so a redo overwrites itself with the same bytes. Raises
    PermanentError, TransientError and DependencyUnavailableError.
    """
    try:
        original = worker.objects.get_original(job.object_key)
    except ObjectMissingError as error:
        raise PermanentError(
            FailureCode.ORIGINAL_MISSING, "The original picture is no longer stored; submit it again"
        ) from error
    rendering = worker.renderer.render(original, job.presets, wall_seconds=wall_seconds)
    mismatch = mismatch_note(job.content_type, rendering.source_format)
    notes = rendering.notes if mismatch is None else (mismatch, *rendering.notes)
    results: dict[str, Result] = {}
    for thumbnail in rendering.thumbnails:
        if is_lost():
            return None
        key = thumbnail_key(job.job_id, thumbnail.preset, thumbnail.sha256, thumbnail.extension)
        worker.objects.put_thumbnail(key, thumbnail.data, thumbnail.content_type)
        results[thumbnail.preset] = Result(
            key=key,
            sha256=thumbnail.sha256,
            width=thumbnail.width,
            height=thumbnail.height,
            bytes=len(thumbnail.data),
            type=thumbnail.content_type,
            source_type=rendering.source_format,
            source_width=rendering.width,
            source_height=rendering.height,
            dominant_colour=rendering.dominant_colour,
            placeholder=rendering.placeholder,
            notes=notes,
        )
    return results
