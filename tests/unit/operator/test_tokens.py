"""Tokens at the terminal: shown once, listed without secrets, revoked after a question."""

from __future__ import annotations

import pytest

from tests.unit.operator.command import Terminal
from tests.world import World
from thumbline.service.authorize_token import authorize_token
from tools.operator.errors import NotConfirmedError, OperatorError


def test_a_token_is_shown_once_and_opens_the_door_until_it_is_revoked() -> None:
    terminal = Terminal(World(), reply="y")
    created = terminal.json("tokens", "create", "acme")
    bearer = f"Bearer {created['token']}"
    assert authorize_token(bearer, terminal.tokens) == "acme"

    listed = terminal.json("tokens", "list")
    assert listed == {"tokens": [{key: value for key, value in created.items() if key != "token"}]}
    assert created["token"].rpartition("_")[2] not in terminal.type("tokens", "list")

    assert created["id"] in terminal.type("tokens", "revoke", created["id"])
    assert terminal.questions == [f"Revoke token {created['id']} of the test stage? [y/N] "]
    assert terminal.json("tokens", "list")["tokens"][0]["revoked_at"] is not None
    with pytest.raises(Exception, match="revoked"):
        authorize_token(bearer, terminal.tokens)


def test_the_token_is_the_first_line_for_people() -> None:
    text = Terminal(World()).type("tokens", "create", "acme")
    assert text.startswith("thumb_")
    assert "only time" in text


def test_nothing_is_revoked_unasked() -> None:
    terminal = Terminal(World(), reply="n")
    created = terminal.json("tokens", "create", "acme")
    with pytest.raises(NotConfirmedError):
        terminal.type("tokens", "revoke", created["id"])
    assert terminal.json("tokens", "list")["tokens"][0]["revoked_at"] is None


def test_what_cannot_be_done_is_one_sentence() -> None:
    terminal = Terminal(World())
    assert terminal.type("tokens", "list") == "There are no tokens.\n"
    with pytest.raises(OperatorError, match="the test stage has no token of the id 42"):
        terminal.type("tokens", "revoke", "42", "--yes")
    with pytest.raises(OperatorError, match="'Acme Ltd' cannot name an owner"):
        terminal.type("tokens", "create", "Acme Ltd")
