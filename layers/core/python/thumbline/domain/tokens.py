"""Bearer tokens: `thumb_<id>_<secret>`. The id finds the record; of the secret only a salted hash is kept.

A secret of 256 random bits cannot be guessed from its hash however fast the hash is, so SHA-256 suffices.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

from thumbline.domain.errors import ThumblineError

TOKEN_ID_BYTES = 8
SECRET_BYTES = 32
SALT_BYTES = 16
_TOKEN = re.compile(r"thumb_([0-9a-f]{16})_([0-9a-f]{64})")
_OWNER = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_BEARER = re.compile(r"(?i:bearer) +([!-~]+) *")
"""RFC 6750 section 2.1; the scheme's name is case-insensitive."""


class OwnerNameError(ThumblineError):
    """The name cannot stand for an owner; the message says what can."""


class UnauthenticatedError(ThumblineError):
    """No token, an unknown one or a revoked one: to the caller they are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """What is kept of a token. Times are epoch milliseconds; `salt` and `secret_sha256` are hex."""

    token_id: str
    owner: str
    salt: str
    secret_sha256: str
    created_at: int
    revoked_at: int | None = None

    @property
    def is_revoked(self) -> bool:
        return self.revoked_at is not None

    def matches(self, secret: bytes) -> bool:
        return hmac.compare_digest(self.secret_sha256, _salted_hash(bytes.fromhex(self.salt), secret))


def new_token(
    owner: str, now: int, *, token_id: bytes, secret: bytes, salt: bytes
) -> tuple[str, TokenRecord]:
    """The token, which exists nowhere but in this answer, and its record. Raises OwnerNameError."""
    if not _OWNER.fullmatch(owner):
        raise OwnerNameError(
            f"{owner!r} cannot name an owner: use 1 to 63 lower-case letters, digits and hyphens,"
            " beginning with a letter or digit"
        )
    if (len(token_id), len(secret), len(salt)) != (TOKEN_ID_BYTES, SECRET_BYTES, SALT_BYTES):
        raise ValueError("a token's parts have fixed lengths")
    record = TokenRecord(
        token_id=token_id.hex(),
        owner=owner,
        salt=salt.hex(),
        secret_sha256=_salted_hash(salt, secret),
        created_at=now,
    )
    return f"thumb_{token_id.hex()}_{secret.hex()}", record


def parse_bearer(authorization: str | None) -> tuple[str, bytes]:
    """Id and secret of an Authorization header. Raises UnauthenticatedError."""
    scheme = _BEARER.fullmatch((authorization or "").strip())
    parts = _TOKEN.fullmatch(scheme.group(1)) if scheme else None
    if parts is None:
        raise UnauthenticatedError("no bearer token of ours")
    return parts.group(1), bytes.fromhex(parts.group(2))


def _salted_hash(salt: bytes, secret: bytes) -> str:
    return hashlib.sha256(salt + secret).hexdigest()
