"""The access table's keys: who may call, how much, and the secret that seals cursors.

Its items have nothing in common but their key and, for what ends, a TTL.
"""

from __future__ import annotations

ACCESS_KEY = "access_id"
ACCESS_TTL = "expires_at"

TOKEN_PREFIX = "token#"
QUOTA_PREFIX = "quota#"
SECRET_PREFIX = "secret#"


def token_item(token_id: str) -> str:
    return f"{TOKEN_PREFIX}{token_id}"


def quota_item(owner: str, window: int) -> str:
    return f"{QUOTA_PREFIX}{owner}#{window}"


def secret_item(name: str) -> str:
    return f"{SECRET_PREFIX}{name}"
