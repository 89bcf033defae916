"""The local stack's kind of identity is chosen by one variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.local.errors import LocalStackError
from tools.local.identity import chosen_identity
from tools.local.paths import Paths


@pytest.mark.parametrize(
    ("environ", "identity"),
    [
        ({}, "local"),
        ({"THUMBLINE_LOCAL_AUTH": "none"}, "local"),
        ({"THUMBLINE_LOCAL_AUTH": "token"}, "token"),
    ],
)
def test_it_asks_nobody_unless_told_to(environ: dict[str, str], identity: str) -> None:
    assert chosen_identity(environ) == identity


def test_another_choice_is_answered_with_the_choices() -> None:
    with pytest.raises(LocalStackError) as caught:
        chosen_identity({"THUMBLINE_LOCAL_AUTH": "iam"})
    assert str(caught.value) == "THUMBLINE_LOCAL_AUTH is 'iam': choose none or token."


def test_each_kind_has_an_assembly_of_its_own(tmp_path: Path) -> None:
    without, with_tokens = Paths(tmp_path, tmp_path), Paths(tmp_path, tmp_path, "token")
    assert without.assembly_cache != with_tokens.assembly_cache
