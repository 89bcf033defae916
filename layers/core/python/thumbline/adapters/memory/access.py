"""The access table in memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import replace

from thumbline.adapters.memory.faults import Boundary, Faults
from thumbline.domain.tokens import TokenRecord

DEPENDENCY = "dynamodb"


class MemoryAccess:
    """Behaves as DynamoDB does for the ports of access. A secret is derived from its name."""

    def __init__(self, faults: Boundary | None = None) -> None:
        self.records: dict[str, TokenRecord] = {}
        self.used: dict[tuple[str, int], int] = {}
        self._faults: Boundary = faults or Faults()
        self._lock = threading.Lock()

    def find_token(self, token_id: str) -> TokenRecord | None:
        with self._faults.around(DEPENDENCY, "find_token"), self._lock:
            return self.records.get(token_id)

    def add_token(self, record: TokenRecord) -> None:
        with self._faults.around(DEPENDENCY, "add_token"), self._lock:
            self.records[record.token_id] = record

    def tokens(self) -> Sequence[TokenRecord]:
        with self._faults.around(DEPENDENCY, "tokens"), self._lock:
            return sorted(self.records.values(), key=lambda record: (record.created_at, record.token_id))

    def revoke_token(self, token_id: str, now: int) -> bool:
        with self._faults.around(DEPENDENCY, "revoke_token"), self._lock:
            record = self.records.get(token_id)
            if record is None:
                return False
            if not record.is_revoked:
                self.records[token_id] = replace(record, revoked_at=now)
        return True

    def count(self, owner: str, window: int, ends_at: int) -> int:
        del ends_at  # TTL is DynamoDB's own business
        with self._faults.around(DEPENDENCY, "count"), self._lock:
            self.used[owner, window] = self.used.get((owner, window), 0) + 1
            return self.used[owner, window]

    def secret(self, name: str) -> bytes:
        with self._faults.around(DEPENDENCY, "secret"):
            return hashlib.sha256(name.encode()).digest()
