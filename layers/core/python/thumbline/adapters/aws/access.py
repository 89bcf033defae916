"""The access table, behind every port of access."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from thumbline.adapters.aws.failures import error_code, unavailable_when_failing
from thumbline.adapters.aws.items import from_item, to_item
from thumbline.domain.access import (
    ACCESS_KEY,
    ACCESS_TTL,
    TOKEN_PREFIX,
    quota_item,
    secret_item,
    token_item,
)
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.tokens import TokenRecord

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DEPENDENCY = "dynamodb"
_SECRET_BYTES = 32


class DynamoDBAccess:
    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def find_token(self, token_id: str) -> TokenRecord | None:
        item = self._get(token_item(token_id))
        return None if item is None else _token(item)

    def add_token(self, record: TokenRecord) -> None:
        row = {
            ACCESS_KEY: token_item(record.token_id),
            "owner": record.owner,
            "salt": record.salt,
            "secret_sha256": record.secret_sha256,
            "created_at": record.created_at,
        }
        with unavailable_when_failing(DEPENDENCY):
            self._client.put_item(TableName=self._table, Item=to_item(row))

    def tokens(self) -> Sequence[TokenRecord]:
        """Scans the table, which holds little else: quotas of the last minutes and one secret."""
        found: list[TokenRecord] = []
        with unavailable_when_failing(DEPENDENCY):
            for page in self._client.get_paginator("scan").paginate(
                TableName=self._table,
                FilterExpression="begins_with(#key, :prefix)",
                ExpressionAttributeNames={"#key": ACCESS_KEY},
                ExpressionAttributeValues={":prefix": {"S": TOKEN_PREFIX}},
                ConsistentRead=True,
            ):
                found += [_token(item) for item in page["Items"]]
        return sorted(found, key=lambda record: (record.created_at, record.token_id))

    def revoke_token(self, token_id: str, now: int) -> bool:
        try:
            with unavailable_when_failing(DEPENDENCY):
                self._client.update_item(
                    TableName=self._table,
                    Key={ACCESS_KEY: {"S": token_item(token_id)}},
                    ConditionExpression="attribute_exists(#key)",
                    UpdateExpression="SET revoked_at = if_not_exists(revoked_at, :now)",
                    ExpressionAttributeNames={"#key": ACCESS_KEY},
                    ExpressionAttributeValues={":now": {"N": str(now)}},
                )
        except ClientError as error:
            _raise_unless_refused(error)
            return False
        return True

    def count(self, owner: str, window: int, ends_at: int) -> int:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.update_item(
                TableName=self._table,
                Key={ACCESS_KEY: {"S": quota_item(owner, window)}},
                UpdateExpression="SET #ttl = :ends_at ADD #used :one",
                ExpressionAttributeNames={"#ttl": ACCESS_TTL, "#used": "used"},
                ExpressionAttributeValues={":ends_at": {"N": str(ends_at)}, ":one": {"N": "1"}},
                ReturnValues="UPDATED_NEW",
            )
        return int(answer["Attributes"]["used"]["N"])

    def secret(self, name: str) -> bytes:
        known = self._get(secret_item(name))
        if known is None:
            self._make_secret(name)
            known = self._get(secret_item(name))
        if known is None:
            raise DependencyUnavailableError(DEPENDENCY, f"the secret {name} vanished")
        return bytes.fromhex(known["secret"]["S"])

    def _make_secret(self, name: str) -> None:
        """The first one wins; everybody reads it back."""
        try:
            with unavailable_when_failing(DEPENDENCY):
                self._client.put_item(
                    TableName=self._table,
                    Item=to_item(
                        {ACCESS_KEY: secret_item(name), "secret": secrets.token_bytes(_SECRET_BYTES).hex()}
                    ),
                    ConditionExpression="attribute_not_exists(#key)",
                    ExpressionAttributeNames={"#key": ACCESS_KEY},
                )
        except ClientError as error:
            _raise_unless_refused(error)

    def _get(self, key: str) -> dict[str, Any] | None:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.get_item(
                TableName=self._table, Key={ACCESS_KEY: {"S": key}}, ConsistentRead=True
            )
        return answer.get("Item")


def _raise_unless_refused(error: ClientError) -> None:
    if error_code(error) != "ConditionalCheckFailedException":
        raise error


def _token(item: dict[str, Any]) -> TokenRecord:
    row = from_item(item)
    return TokenRecord(
        token_id=row[ACCESS_KEY].removeprefix(TOKEN_PREFIX),
        owner=row["owner"],
        salt=row["salt"],
        secret_sha256=row["secret_sha256"],
        created_at=row["created_at"],
        revoked_at=row.get("revoked_at"),
    )
