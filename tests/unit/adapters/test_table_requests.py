"""What the DynamoDB adapters ask for beside their conditions: what no emulator misses when it is left out.

moto reads consistently always, ignores a transaction's token, and shows the old image unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from tests.world import World, new_job
from thumbline.adapters.aws.acceptance import DynamoDBAcceptance
from thumbline.adapters.aws.access import DynamoDBAccess
from thumbline.adapters.aws.items import to_item
from thumbline.adapters.aws.jobs import DynamoDBJobs
from thumbline.adapters.aws.status_index import DynamoDBStatusIndex
from thumbline.domain.access import ACCESS_KEY, token_item
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.job import Job, Status
from thumbline.domain.schema import OWNER_INDEX
from thumbline.domain.snapshot import SNAPSHOT_KEY
from thumbline.domain.transition import TransitionRefusedError
from thumbline.domain.transitions.attempt import claim

WORLD = World()
JOB = new_job(WORLD)
RECORD = IdempotencyRecord("alice#1", "print", JOB.job_id, JOB.created_at // 1000 + 86_400)
RECORD_ITEM = to_item(
    {
        "record_id": RECORD.record_id,
        "fingerprint": RECORD.fingerprint,
        "job_id": RECORD.job_id,
        "expires_at": RECORD.expires_at,
    }
)
OTHERS_ITEM = RECORD_ITEM | {"job_id": {"S": "img_other"}}


@pytest.fixture(scope="module")
def client() -> Any:
    return boto3.client("dynamodb")


@pytest.fixture
def dynamodb(client: Any) -> Iterator[Stubber]:
    """Every answer that a test plans must be asked for."""
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def jobs(client: Any) -> DynamoDBJobs:
    return DynamoDBJobs(client, "jobs")


def acceptance(client: Any) -> DynamoDBAcceptance:
    return DynamoDBAcceptance(
        client, jobs_table="jobs", idempotency_table="idempotency", pause=lambda _seconds: None
    )


@pytest.mark.parametrize(
    ("read", "table", "key"),
    [
        (lambda client: jobs(client).get(JOB.job_id), "jobs", {"job_id": {"S": JOB.job_id}}),
        (lambda client: jobs(client).read_snapshot(), "jobs", {"job_id": {"S": SNAPSHOT_KEY}}),
        (
            lambda client: acceptance(client).find_record("alice#1"),
            "idempotency",
            {"record_id": {"S": "alice#1"}},
        ),
        (lambda client: DynamoDBAccess(client, "access").find_token("7"), "access", ANY),
    ],
    ids=["job", "snapshot", "idempotency record", "token"],
)
def test_what_is_decided_upon_is_read_consistently(
    client: Any, dynamodb: Stubber, read: Callable[[Any], object], table: str, key: Any
) -> None:
    """A stale read would answer 404 to an accepted job, and store a second one for its key."""
    dynamodb.add_response("get_item", {}, {"TableName": table, "Key": key, "ConsistentRead": True})
    assert read(client) is None


def test_a_transition_asks_for_both_images(client: Any, dynamodb: Stubber) -> None:
    """The new one is the answer; the old one tells why it was refused, or that it was our own write."""
    transition = claim(JOB.job_id, WORLD.moment())
    asked = {
        "TableName": "jobs",
        "Key": {"job_id": {"S": JOB.job_id}},
        "ConditionExpression": ANY,
        "UpdateExpression": ANY,
        "ExpressionAttributeNames": ANY,
        "ExpressionAttributeValues": ANY,
        "ReturnValues": "ALL_NEW",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    own = to_item(JOB.to_row() | {"status": "RUNNING", "write_id": transition.write_id})
    dynamodb.add_response("update_item", {"Attributes": own}, asked)
    assert jobs(client).apply(JOB.job_id, transition).status is Status.RUNNING
    for old in (own, to_item(JOB.to_row())):
        dynamodb.add_client_error(
            "update_item",
            "ConditionalCheckFailedException",
            expected_params=asked,
            modeled_fields={"Item": old},
        )
    assert jobs(client).apply(JOB.job_id, transition).status is Status.RUNNING
    with pytest.raises(TransitionRefusedError) as refused:
        jobs(client).apply(JOB.job_id, transition)
    assert refused.value.job == JOB


def transaction(job: Job, record: IdempotencyRecord) -> dict[str, Any]:
    """Both rows or none; a retry of the same acceptance is the same acceptance; no row is overwritten."""
    return {
        "ClientRequestToken": job.write_id,
        "TransactItems": [
            {
                "Put": {
                    "TableName": "jobs",
                    "Item": to_item(job.to_row()),
                    "ConditionExpression": "attribute_not_exists(#key)",
                    "ExpressionAttributeNames": {"#key": "job_id"},
                }
            },
            {
                "Put": {
                    "TableName": "idempotency",
                    "Item": RECORD_ITEM,
                    "ConditionExpression": "attribute_not_exists(#key) OR #expires_at <= :now",
                    "ExpressionAttributeNames": {"#key": "record_id", "#expires_at": "expires_at"},
                    "ExpressionAttributeValues": {":now": {"N": str(record.expires_at - 86_400)}},
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
        ],
    }


def cancelled(dynamodb: Stubber, *reasons: dict[str, Any]) -> None:
    dynamodb.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        expected_params=transaction(JOB, RECORD),
        modeled_fields={"CancellationReasons": list(reasons)},
    )


def test_an_acceptance_is_one_transaction_under_the_jobs_own_token(client: Any, dynamodb: Stubber) -> None:
    dynamodb.add_response("transact_write_items", {}, transaction(JOB, RECORD))
    assert acceptance(client).accept(JOB, RECORD) is None


@pytest.mark.parametrize(("item", "is_another"), [(OTHERS_ITEM, True), (RECORD_ITEM, False)])
def test_a_refused_acceptance_is_explained_by_the_record_that_holds_the_key(
    client: Any, dynamodb: Stubber, item: dict[str, Any], is_another: bool
) -> None:
    cancelled(dynamodb, {"Code": "None"}, {"Code": "ConditionalCheckFailed", "Item": item})
    holder = acceptance(client).accept(JOB, RECORD)
    assert (None if holder is None else holder.job_id) == ("img_other" if is_another else None)


def test_a_refusal_without_the_record_is_no_answer(client: Any, dynamodb: Stubber) -> None:
    """Never a 202 for what was not stored."""
    cancelled(dynamodb, {"Code": "None"}, {"Code": "ConditionalCheckFailed"})
    with pytest.raises(DependencyUnavailableError, match="vanished"):
        acceptance(client).accept(JOB, RECORD)


def summary(job_id: str) -> dict[str, Any]:
    return to_item({"job_id": job_id, "status": "FAILED", "created_at": 1})


def test_jobs_of_a_status_are_found_on_every_page(client: Any, dynamodb: Stubber) -> None:
    """A page ends at 1 MB before it is filtered, so one without a hit is not the last one."""
    asked = {
        "TableName": "jobs",
        "IndexName": OWNER_INDEX,
        "FilterExpression": ANY,
        "ExpressionAttributeNames": ANY,
        "ExpressionAttributeValues": {":status": {"S": "FAILED"}},
    }
    ends: list[Any] = [{"job_id": {"S": job_id}} for job_id in ("a", "m")]
    dynamodb.add_response("scan", {"Items": [summary("a")], "LastEvaluatedKey": ends[0]}, asked)
    dynamodb.add_response(
        "scan", {"Items": [], "LastEvaluatedKey": ends[1]}, asked | {"ExclusiveStartKey": ends[0]}
    )
    dynamodb.add_response("scan", {"Items": [summary("b")]}, asked | {"ExclusiveStartKey": ends[1]})
    found = DynamoDBStatusIndex(client, "jobs").with_status(Status.FAILED)
    assert [job.job_id for job in found] == ["a", "b"]


def test_tokens_are_listed_from_every_page_and_consistently(client: Any, dynamodb: Stubber) -> None:
    """A token that was just revoked, or just made, is told as it is."""
    asked = {
        "TableName": "access",
        "FilterExpression": ANY,
        "ExpressionAttributeNames": ANY,
        "ExpressionAttributeValues": ANY,
        "ConsistentRead": True,
    }
    last = {"item": {"S": "x"}}
    tokens = [
        to_item(
            {
                ACCESS_KEY: token_item(token_id),
                "owner": "acme",
                "salt": "s",
                "secret_sha256": "h",
                "created_at": created_at,
            }
        )
        for created_at, token_id in enumerate(("first", "second"))
    ]
    dynamodb.add_response("scan", {"Items": tokens[1:], "LastEvaluatedKey": last}, asked)
    dynamodb.add_response("scan", {"Items": tokens[:1]}, asked | {"ExclusiveStartKey": last})
    found = DynamoDBAccess(client, "access").tokens()
    assert [token.token_id for token in found] == ["first", "second"]
