"""Bearer tokens of a stage whose identity is `token`: made once, shown once, revoked for good."""

from __future__ import annotations

from typing import Any

from thumbline.domain.tokens import OwnerNameError, TokenRecord
from thumbline.service.issue_token import issue_token
from thumbline.service.revoke_token import TokenNotFoundError, revoke_token
from tools.operator.console import Console, moment, table
from tools.operator.errors import OperatorError
from tools.operator.stage import Stage


def create_token(owner: str, stage: Stage, console: Console) -> None:
    """Raises OperatorError for a name that cannot be an owner's, and DependencyUnavailableError."""
    try:
        token, record = issue_token(owner, stage.tokens, stage.reconciler.clock)
    except OwnerNameError as error:
        raise OperatorError(f"{error}.") from error
    console.show(
        f"{token}\nThis is the only time that it is shown. Its id is {record.token_id}.",
        {**_document(record), "token": token},
    )


def list_tokens(stage: Stage, console: Console) -> None:
    """Without their secrets, which nobody has. Raises DependencyUnavailableError."""
    records = stage.tokens.tokens()
    rows = [
        (record.token_id, record.owner, moment(record.created_at), moment(record.revoked_at))
        for record in records
    ]
    console.show(
        table(("id", "owner", "created", "revoked"), rows) if rows else "There are no tokens.",
        {"tokens": [_document(record) for record in records]},
    )


def revoke(token_id: str, stage: Stage, console: Console) -> None:
    """Raises OperatorError for an unknown id, NotConfirmedError and DependencyUnavailableError."""
    console.confirm(f"Revoke token {token_id} of {stage.label}")
    try:
        revoke_token(token_id, stage.tokens, stage.reconciler.clock)
    except TokenNotFoundError as error:
        raise OperatorError(f"{stage.label} has no token of the id {token_id}.") from error
    console.show(f"Revoked {token_id}; the gateway forgets it within five minutes.", {"revoked": token_id})


def _document(record: TokenRecord) -> dict[str, Any]:
    return {
        "id": record.token_id,
        "owner": record.owner,
        "created_at": moment(record.created_at),
        "revoked_at": moment(record.revoked_at),
    }
