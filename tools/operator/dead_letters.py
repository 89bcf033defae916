"""`dlq list`, `dlq show` and `dlq discard`."""

from __future__ import annotations

from thumbline.service.browse_dead_letters import discard_dead_letters, list_dead_letters, names_of
from tools.operator.console import Console, listing, table
from tools.operator.documents import copy_document
from tools.operator.errors import OperatorError
from tools.operator.stage import Stage

_COLUMNS = ("job_id", "generation", "code", "attempts", "last_error", "first_seen", "message_id")


def list_copies(limit: int, stage: Stage, console: Console) -> None:
    documents = [copy_document(copy) for copy in list_dead_letters(stage.dead_letters, limit)]
    rows = [[document[name] for name in _COLUMNS] for document in documents]
    headings = [name.upper().replace("_", " ") for name in _COLUMNS]
    text = table(headings, rows) if rows else f"The dead-letter queue of {stage.label} is empty."
    console.show(text, {"copies": documents})


def show_copy(name: str, limit: int, stage: Stage, console: Console) -> None:
    """Raises OperatorError where no copy has this name. A job that was redriven may have several."""
    found = [copy for copy in list_dead_letters(stage.dead_letters, limit) if name in names_of(copy)]
    if not found:
        raise _unknown_copy([name], limit)
    documents = [copy_document(copy) for copy in found]
    console.show("\n\n".join(map(listing, documents)), {"copies": documents})


def discard_copies(names: list[str], limit: int, stage: Stage, console: Console) -> None:
    """Raises OperatorError where one of the names is no copy's, and NotConfirmedError."""
    console.confirm(f"Delete the copies of {', '.join(names)} from the dead-letter queue of {stage.label}")
    gone = discard_dead_letters(set(names), stage.dead_letters, limit)
    console.show(
        f"{len(gone)} discarded; their jobs stay FAILED.",
        {"discarded": [copy_document(copy) for copy in gone]},
    )
    met = set().union(*map(names_of, gone))
    if missed := [name for name in names if name not in met]:
        raise _unknown_copy(missed, limit)


def _unknown_copy(names: list[str], limit: int) -> OperatorError:
    return OperatorError(
        f"No copy of {', '.join(names)} is visible among the first {limit} of the dead-letter queue:"
        " look at `thumbline dlq list`."
    )
