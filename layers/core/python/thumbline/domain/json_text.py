"""JSON that somebody else wrote: whatever cannot be read is one kind of error."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Raises ValueError for what is no JSON, brackets nested more deeply than the parser can follow included.

    For those `json.loads` raises RecursionError, which no caller expects of a stranger's text.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
