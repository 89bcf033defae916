"""The bucket."""

from __future__ import annotations

from typing import Literal, Protocol

from thumbline.domain.errors import ThumblineError


class ObjectMissingError(ThumblineError):
    """There is no object under this key."""


class OriginalWriter(Protocol):
    def put_original(self, key: str, data: bytes, sha256: str) -> None:
        """A conditional put: an original is immutable, and a second put of the same key changes nothing.

        Raises DependencyUnavailableError.
        """
        ...


class OriginalReader(Protocol):
    def get_original(self, key: str) -> bytes:
        """Raises ObjectMissingError and DependencyUnavailableError."""
        ...


class ThumbnailWriter(Protocol):
    def put_thumbnail(self, key: str, data: bytes, content_type: str) -> None:
        """Raises DependencyUnavailableError."""
        ...


class WorkerObjects(OriginalReader, ThumbnailWriter, Protocol):
    """The worker's view of the bucket."""


class ObjectRemover(Protocol):
    def remove_all(self, prefix: str) -> int:
        """Removes every object under the prefix; how many there were. Raises DependencyUnavailableError."""
        ...


class OriginalLister(Protocol):
    def originals_after(self, key: str, limit: int) -> list[str]:
        """Keys of originals after this one, in order, so from older to newer. Raises
        DependencyUnavailableError."""
        ...


class ReconcilerObjects(ObjectRemover, OriginalLister, Protocol):
    """The reconciler's view of the bucket."""


FetchMethod = Literal["GET", "HEAD"]


class UrlSigner(Protocol):
    def sign(self, key: str, content_type: str, seconds: int, method: FetchMethod) -> str:
        """A URL that serves the object under this content type for so long, to this method alone. Makes no
        call."""
        ...
