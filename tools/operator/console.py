"""What goes to people and what to programs: tables, one JSON document, a question before a change."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tools.operator.errors import NotConfirmedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """`ask` is None where nobody can answer; `agreed` is `--yes`."""

    say: Callable[[str], None]
    ask: Callable[[str], str] | None
    as_json: bool
    agreed: bool

    def show(self, text: str, document: dict[str, Any]) -> None:
        """One of the two: a command's whole answer is one document."""
        self.say(json.dumps(document, indent=2, ensure_ascii=False) if self.as_json else text)

    def confirm(self, change: str) -> None:
        """Raises NotConfirmedError unless somebody says yes."""
        if self.agreed:
            return
        if self.ask is None:
            raise NotConfirmedError(f"{change}: nobody is here to confirm this; give --yes to do it unasked.")
        if self.ask(f"{change}? [y/N] ").strip().lower() not in ("y", "yes"):
            raise NotConfirmedError("Nothing was changed.")


def ask_on_terminal(question: str) -> str:
    """The question goes to standard error, so that standard output stays one document."""
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns two blanks apart; `-` where there is no value."""
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def listing(facts: dict[str, object]) -> str:
    """One fact a line."""
    width = max(map(len, facts))
    return "\n".join(f"{name.ljust(width)}  {_cell(value)}" for name, value in facts.items())


def moment(milliseconds: int | None) -> str | None:
    """Epoch milliseconds as the API writes times: ISO 8601 in UTC."""
    if milliseconds is None:
        return None
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def duration(milliseconds: int) -> str:
    """The one or two largest units: `45 s`, `3 min`, `2 h 5 min`, `3 d 4 h`."""
    seconds = max(0, round(milliseconds / 1000))
    if seconds < 120:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 120:
        return f"{minutes} min"
    hours = minutes // 60
    if hours < 48:
        return f"{hours} h {minutes % 60} min"
    return f"{hours // 24} d {hours % 24} h"


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)
