"""Joins what token_authorizer needs."""

from __future__ import annotations

from thumbline.adapters.aws.access import DynamoDBAccess
from thumbline.bootstrap import clients
from thumbline.domain.patience import ANSWERING
from thumbline.ports.access import TokenReader
from thumbline.settings import AuthorizerSettings


def build(settings: AuthorizerSettings) -> TokenReader:
    return DynamoDBAccess(clients.dynamodb(ANSWERING), settings.access_table)
