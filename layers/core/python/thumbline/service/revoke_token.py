"""Revoke a bearer token."""

from __future__ import annotations

from thumbline.domain.errors import ThumblineError
from thumbline.ports.access import TokenStore
from thumbline.ports.clock import Clock


class TokenNotFoundError(ThumblineError):
    """There is no token of this id."""


def revoke_token(token_id: str, tokens: TokenStore, clock: Clock) -> None:
    """It opens nothing once the gateway's cache of it has run out. A second time changes nothing.

    Raises TokenNotFoundError and DependencyUnavailableError.
    """
    if not tokens.revoke_token(token_id, clock.now()):
        raise TokenNotFoundError(f"no token has the id {token_id!r}")
