"""The bucket's uploads in memory: a form is enforced as S3 enforces its policy."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from thumbline.adapters.memory.faults import Boundary, Faults
from thumbline.adapters.memory.objects import DEPENDENCY, MemoryObjects, StoredObject
from thumbline.domain.uploads import SIGNATURE_BYTES, Announcement, UploadedObject
from thumbline.ports.uploads import UploadChangedError, UploadForm


class FormRefusedError(Exception):
    """S3 would refuse this body for this form."""


@dataclass(slots=True)
class MemoryUploads:
    """`objects` is the bucket's twin that the uploads are copied within."""

    objects: MemoryObjects
    faults: Boundary = field(default_factory=Faults)
    announced: dict[str, Announcement] = field(default_factory=dict)

    def sign_form(self, key: str, announced: Announcement, seconds: int) -> UploadForm:
        self.announced[key] = announced
        fields = {"key": key, "Content-Type": announced.content_type, "seconds": str(seconds)}
        return UploadForm("memory://bucket/", fields)

    def send(self, form: UploadForm, body: bytes) -> None:
        """What a client does with a form. Raises FormRefusedError."""
        key = form.fields["key"]
        announced = self.announced[key]
        if len(body) != announced.byte_length or hashlib.sha256(body).hexdigest() != announced.sha256:
            raise FormRefusedError(key)
        self.objects.objects[key] = StoredObject(body, announced.content_type)

    def find_upload(self, key: str) -> UploadedObject | None:
        with self.faults.around(DEPENDENCY, "find_upload"):
            stored = self.objects.objects.get(key)
        if stored is None:
            return None
        return UploadedObject(
            byte_length=len(stored.data),
            sha256=hashlib.sha256(stored.data).hexdigest(),
            content_type=stored.content_type,
            announced_sha256=self.announced[key].sha256,
            version=_version(stored),
            signature=stored.data[:SIGNATURE_BYTES],
        )

    def copy_upload(self, key: str, version: str, original_key: str) -> None:
        with self.faults.around(DEPENDENCY, "copy_upload"):
            stored = self.objects.objects.get(key)
            if stored is None or _version(stored) != version:
                raise UploadChangedError(key)
            self.objects.objects.setdefault(
                original_key, StoredObject(stored.data, "application/octet-stream")
            )


def _version(stored: StoredObject) -> str:
    return f'"{hashlib.md5(stored.data, usedforsecurity=False).hexdigest()}"'
