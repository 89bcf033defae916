"""The authorizer's answers, as API Gateway reads them, from issue to revocation."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from functions.token_authorizer.handler import lambda_handler, logger
from tests.events import LambdaContext
from thumbline.adapters.memory.access import MemoryAccess
from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.faults import Fault, Faults
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.service.issue_token import issue_token
from thumbline.service.revoke_token import TokenNotFoundError, revoke_token

ARN = "arn:aws:execute-api:us-east-1:000000000000:api/v1/GET/jobs/img_1"
CLOCK = ManualClock()


def authorize(tokens: MemoryAccess, authorization: str) -> dict[str, Any]:
    event = {"type": "TOKEN", "authorizationToken": authorization, "methodArn": ARN}
    return lambda_handler(event, LambdaContext(), tokens)


def test_a_token_opens_the_whole_stage_for_its_owner() -> None:
    tokens = MemoryAccess()
    token, _ = issue_token("acme", tokens, CLOCK)

    assert authorize(tokens, f"Bearer {token}") == {
        "principalId": "acme",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "execute-api:Invoke",
                    "Resource": "arn:aws:execute-api:us-east-1:000000000000:api/v1/*",
                }
            ],
        },
        "context": {"owner": "acme"},
    }


def test_two_tokens_of_one_owner_differ_and_both_count() -> None:
    tokens = MemoryAccess()
    first, second = (issue_token("acme", tokens, CLOCK)[0] for _ in range(2))
    assert first != second
    for token in (first, second):
        assert authorize(tokens, f"Bearer {token}")["context"] == {"owner": "acme"}


def test_an_unknown_a_wrong_and_a_revoked_token_are_refused_alike() -> None:
    tokens = MemoryAccess()
    token, record = issue_token("acme", tokens, CLOCK)
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    for refused in ("", "Basic x", f"Bearer {wrong}", f"Bearer thumb_{'0' * 16}_{'0' * 64}"):
        with pytest.raises(Exception, match=r"^Unauthorized$"):
            authorize(tokens, refused)
    revoke_token(record.token_id, tokens, CLOCK)
    with pytest.raises(Exception, match=r"^Unauthorized$"):
        authorize(tokens, f"Bearer {token}")


def test_while_tokens_cannot_be_read_nobody_is_let_in() -> None:
    """An exception of any other text becomes a 500: waiting helps, and asking for another token does not."""
    faults = Faults()
    tokens = MemoryAccess(faults)
    token, _ = issue_token("acme", tokens, CLOCK)
    faults.plan("find_token", Fault.REFUSED)
    with pytest.raises(DependencyUnavailableError):
        authorize(tokens, f"Bearer {token}")


def test_a_token_that_does_not_exist_cannot_be_revoked() -> None:
    with pytest.raises(TokenNotFoundError, match="no token has the id 'x'"):
        revoke_token("x", MemoryAccess(), CLOCK)


def test_no_log_line_holds_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", log)
    tokens = MemoryAccess()
    token, record = issue_token("acme", tokens, CLOCK)
    authorize(tokens, f"Bearer {token}")
    with pytest.raises(Exception, match=r"^Unauthorized$"):
        authorize(tokens, f"Bearer {token[:-1]}x")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["message"] for line in lines] == ["authorized", "refused"]
    assert token.rpartition("_")[2][:20] not in log.getvalue()
    assert record.salt not in log.getvalue()
