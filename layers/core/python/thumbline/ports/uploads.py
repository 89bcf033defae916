"""The part of the bucket that clients write to by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from thumbline.domain.errors import ThumblineError
from thumbline.domain.uploads import Announcement, UploadedObject


class UploadChangedError(ThumblineError):
    """The object is no longer the one that was looked at."""


@dataclass(frozen=True, slots=True)
class UploadForm:
    """A form to be sent as multipart/form-data to `url`: all fields, then the file."""

    url: str
    fields: Mapping[str, str]


class UploadSigner(Protocol):
    def sign_form(self, key: str, announced: Announcement, seconds: int) -> UploadForm:
        """A form that puts exactly what was announced under exactly this key. Makes no call."""
        ...


class UploadStore(Protocol):
    def find_upload(self, key: str) -> UploadedObject | None:
        """What has arrived under the key. Raises DependencyUnavailableError."""
        ...

    def copy_upload(self, key: str, version: str, original_key: str) -> None:
        """Copies this version of the upload to the original, if there is none yet.

        Raises UploadChangedError where the upload is another version or gone, and DependencyUnavailableError.
        """
        ...
