"""The bucket in memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from thumbline.adapters.memory.faults import Boundary, Faults
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.schema import ORIGINALS_PREFIX
from thumbline.ports.objects import FetchMethod, ObjectMissingError

DEPENDENCY = "s3"


@dataclass(frozen=True, slots=True)
class StoredObject:
    data: bytes
    content_type: str


@dataclass(slots=True)
class MemoryObjects:
    """Behaves as S3 does for the object ports. `puts` counts every effective write of a key.

    `on_change` sees each effective write and removal just before it; a removal as None.
    """

    faults: Boundary = field(default_factory=Faults)
    objects: dict[str, StoredObject] = field(default_factory=dict)
    puts: dict[str, int] = field(default_factory=dict)
    on_change: Callable[[str, StoredObject | None], None] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def put_original(self, key: str, data: bytes, sha256: str) -> None:
        with self.faults.around(DEPENDENCY, "put_original"), self._lock:
            if hashlib.sha256(data).hexdigest() != sha256:
                raise DependencyUnavailableError(DEPENDENCY, "BadDigest")
            if key not in self.objects:
                self._put(key, StoredObject(data, "application/octet-stream"))

    def get_original(self, key: str) -> bytes:
        with self.faults.around(DEPENDENCY, "get_original"), self._lock:
            if key not in self.objects:
                raise ObjectMissingError(key)
            return self.objects[key].data

    def put_thumbnail(self, key: str, data: bytes, content_type: str) -> None:
        with self.faults.around(DEPENDENCY, "put_thumbnail"), self._lock:
            self._put(key, StoredObject(data, content_type))

    def remove_all(self, prefix: str) -> int:
        with self.faults.around(DEPENDENCY, "remove_all"), self._lock:
            found = [key for key in self.objects if key.startswith(prefix)]
            for key in found:
                if self.on_change is not None:
                    self.on_change(key, None)
                del self.objects[key]
        return len(found)

    def originals_after(self, key: str, limit: int) -> list[str]:
        with self.faults.around(DEPENDENCY, "originals_after"), self._lock:
            found = sorted(name for name in self.objects if name.startswith(ORIGINALS_PREFIX) and name > key)
        return found[:limit]

    def sign(self, key: str, content_type: str, seconds: int, method: FetchMethod) -> str:
        return f"memory://bucket/{key}?type={content_type}&seconds={seconds}&method={method}"

    def _put(self, key: str, stored: StoredObject) -> None:
        if self.on_change is not None:
            self.on_change(key, stored)
        self.objects[key] = stored
        self.puts[key] = self.puts.get(key, 0) + 1
