"""Who may call and how much: tokens, quotas and the secret that seals cursors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thumbline.domain.tokens import TokenRecord


class TokenReader(Protocol):
    def find_token(self, token_id: str) -> TokenRecord | None:
        """A consistent read, so that a revocation counts at once. Raises DependencyUnavailableError."""
        ...


class TokenStore(TokenReader, Protocol):
    def add_token(self, record: TokenRecord) -> None:
        """Raises DependencyUnavailableError."""
        ...

    def tokens(self) -> Sequence[TokenRecord]:
        """Every token, the oldest first. Raises DependencyUnavailableError."""
        ...

    def revoke_token(self, token_id: str, now: int) -> bool:
        """False where there is no such token; a second time changes nothing. Raises
        DependencyUnavailableError."""
        ...


class QuotaCounter(Protocol):
    def count(self, owner: str, window: int, ends_at: int) -> int:
        """Counts one request; how many the window has now. `ends_at` in epoch seconds.

        Raises DependencyUnavailableError.
        """
        ...


class SecretSource(Protocol):
    def secret(self, name: str) -> bytes:
        """32 random bytes, made at the first call and the same ever after. Raises
        DependencyUnavailableError."""
        ...
