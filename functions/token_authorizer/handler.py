"""A bearer token in, a policy and the owner out.
https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from thumbline.bootstrap.token_authorizer import build
from thumbline.domain.tokens import UnauthenticatedError
from thumbline.ports.access import TokenReader
from thumbline.service.authorize_token import authorize_token
from thumbline.settings import AuthorizerSettings

logger = Logger(service="token_authorizer")


@cache
def _deployed() -> TokenReader:
    return build(AuthorizerSettings.from_env(os.environ))


def lambda_handler(
    event: dict[str, Any], _context: object, tokens: TokenReader | None = None
) -> dict[str, Any]:
    """API Gateway turns an exception with exactly this text into 401, and every other one into 500."""
    reader = _deployed() if tokens is None else tokens
    try:
        owner = authorize_token(event.get("authorizationToken"), reader)
    except UnauthenticatedError:
        logger.info("refused")
        raise Exception("Unauthorized") from None
    logger.info("authorized", owner=owner)
    return {
        "principalId": owner,
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "execute-api:Invoke",
                    "Resource": _whole_stage(event["methodArn"]),
                }
            ],
        },
        "context": {"owner": owner},
    }


def _whole_stage(method_arn: str) -> str:
    """The answer is cached for every method of the stage, so it must not name the one that was called."""
    api, stage, *_ = method_arn.split("/")
    return f"{api}/{stage}/*"
