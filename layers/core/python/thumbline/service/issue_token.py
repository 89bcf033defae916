"""Issue a bearer token for an owner."""

from __future__ import annotations

import secrets

from thumbline.domain.tokens import SALT_BYTES, SECRET_BYTES, TOKEN_ID_BYTES, TokenRecord, new_token
from thumbline.ports.access import TokenStore
from thumbline.ports.clock import Clock


def issue_token(owner: str, tokens: TokenStore, clock: Clock) -> tuple[str, TokenRecord]:
    """The token, to be shown once and never again, and what is kept of it.

    Raises OwnerNameError and DependencyUnavailableError.
    """
    token, record = new_token(
        owner,
        clock.now(),
        token_id=secrets.token_bytes(TOKEN_ID_BYTES),
        secret=secrets.token_bytes(SECRET_BYTES),
        salt=secrets.token_bytes(SALT_BYTES),
    )
    tokens.add_token(record)
    return token, record
