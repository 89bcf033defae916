"""Whether the local stack asks its callers who they are: THUMBLINE_LOCAL_AUTH=none or token."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from tools.local.errors import LocalStackError

Identity = Literal["local", "token"]
"""In the stack's own words; `local` asks nobody."""

VARIABLE = "THUMBLINE_LOCAL_AUTH"
_CHOICES: dict[str, Identity] = {"": "local", "none": "local", "token": "token"}


def chosen_identity(environ: Mapping[str, str] = os.environ) -> Identity:
    """Raises LocalStackError naming the choices."""
    chosen = environ.get(VARIABLE, "")
    if chosen not in _CHOICES:
        raise LocalStackError(f"{VARIABLE} is {chosen!r}: choose none or token.")
    return _CHOICES[chosen]
