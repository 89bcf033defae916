"""Tell whose a bearer token is."""

from __future__ import annotations

from thumbline.domain.tokens import UnauthenticatedError, parse_bearer
from thumbline.ports.access import TokenReader


def authorize_token(authorization: str | None, tokens: TokenReader) -> str:
    """The owner. Raises UnauthenticatedError, and DependencyUnavailableError: then nobody is let in."""
    token_id, secret = parse_bearer(authorization)
    record = tokens.find_token(token_id)
    if record is None or record.is_revoked or not record.matches(secret):
        raise UnauthenticatedError("unknown or revoked")
    return record.owner
