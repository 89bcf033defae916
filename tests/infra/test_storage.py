"""Tables, bucket and queues of the synthesized template."""

from __future__ import annotations

import json

import pytest

from tests.infra.template import Template
from thumbline.domain import schema
from thumbline.domain.access import ACCESS_KEY, ACCESS_TTL

TABLE, BUCKET, QUEUE = "AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SQS::Queue"


def test_the_jobs_table_is_an_outbox(any_stage: Template) -> None:
    jobs = any_stage.one(TABLE, "TablesJobs")

    assert jobs["KeySchema"] == [{"AttributeName": schema.JOBS_KEY, "KeyType": "HASH"}]
    assert jobs["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert jobs["TimeToLiveSpecification"] == {"AttributeName": schema.JOBS_TTL, "Enabled": True}


def test_the_indexes_are_those_of_the_schema(dev: Template) -> None:
    jobs = dev.one(TABLE, "TablesJobs")
    indexes = {index["IndexName"]: index for index in jobs["GlobalSecondaryIndexes"]}
    types = {entry["AttributeName"]: entry["AttributeType"] for entry in jobs["AttributeDefinitions"]}

    assert set(indexes) == {schema.DUE_INDEX, schema.OWNER_INDEX}
    assert indexes[schema.DUE_INDEX]["KeySchema"] == [
        {"AttributeName": schema.DUE_INDEX_SHARD, "KeyType": "HASH"},
        {"AttributeName": schema.DUE_INDEX_TIME, "KeyType": "RANGE"},
    ]
    assert indexes[schema.DUE_INDEX]["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert indexes[schema.OWNER_INDEX]["KeySchema"] == [
        {"AttributeName": schema.OWNER_INDEX_OWNER, "KeyType": "HASH"},
        {"AttributeName": schema.JOBS_KEY, "KeyType": "RANGE"},
    ]
    assert indexes[schema.OWNER_INDEX]["Projection"]["NonKeyAttributes"] == list(
        schema.OWNER_INDEX_ATTRIBUTES
    )
    assert types == {
        schema.JOBS_KEY: "S",
        schema.DUE_INDEX_SHARD: "S",
        schema.DUE_INDEX_TIME: "N",
        schema.OWNER_INDEX_OWNER: "S",
    }


def test_idempotency_records_expire(any_stage: Template) -> None:
    table = any_stage.one(TABLE, "TablesIdempotency")

    assert table["KeySchema"] == [{"AttributeName": schema.IDEMPOTENCY_KEY, "KeyType": "HASH"}]
    assert table["TimeToLiveSpecification"] == {"AttributeName": schema.IDEMPOTENCY_TTL, "Enabled": True}


def test_what_is_counted_for_a_quota_expires(any_stage: Template) -> None:
    table = any_stage.one(TABLE, "TablesAccess")

    assert table["KeySchema"] == [{"AttributeName": ACCESS_KEY, "KeyType": "HASH"}]
    assert table["TimeToLiveSpecification"] == {"AttributeName": ACCESS_TTL, "Enabled": True}


def test_every_table_recovers_to_any_point_and_is_encrypted_and_on_demand(any_stage: Template) -> None:
    tables = any_stage.of_type(TABLE)

    assert len(tables) == 3
    for table in tables.values():
        properties = table["Properties"]
        assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert properties["SSESpecification"] == {"SSEEnabled": True}
        assert properties["BillingMode"] == "PAY_PER_REQUEST"


@pytest.mark.parametrize(
    ("stage", "policy", "protected"),
    [("dev", "Delete", False), ("prod", "Retain", True), ("local", "Delete", False)],
)
def test_only_prod_keeps_its_data(
    stage: str, policy: str, protected: bool, templates: dict[str, Template]
) -> None:
    stateful = templates[stage].of_type(TABLE) | templates[stage].of_type(BUCKET)

    assert {resource["DeletionPolicy"] for resource in stateful.values()} == {policy}
    for table in templates[stage].of_type(TABLE).values():
        assert table["Properties"]["DeletionProtectionEnabled"] is protected


def test_the_bucket_is_private_encrypted_and_tls_only(any_stage: Template) -> None:
    bucket = any_stage.one(BUCKET, "BucketImages")
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    policy = any_stage.one("AWS::S3::BucketPolicy", "BucketImages")["PolicyDocument"]["Statement"]

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert encryption["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert _denies_plain_http(policy, "s3:*")


def test_no_age_rule_touches_anything_but_uploads(any_stage: Template) -> None:
    rule, uploads = any_stage.one(BUCKET, "BucketImages")["LifecycleConfiguration"]["Rules"]

    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
    assert set(rule) == {"AbortIncompleteMultipartUpload", "Id", "Status"}
    assert (uploads["Prefix"], uploads["ExpirationInDays"]) == ("uploads/", 1)


def test_no_helper_function_comes_with_the_stack(any_stage: Template) -> None:
    """CDK's way to empty a bucket is a function of its own, whose log group nobody would delete."""
    functions = any_stage.of_type("AWS::Lambda::Function")

    assert len(functions) == 4
    assert not any(found["Type"].startswith("Custom::") for found in any_stage.body["Resources"].values())


def test_every_queue_is_encrypted_and_tls_only(any_stage: Template) -> None:
    queues = any_stage.of_type(QUEUE)
    policies = any_stage.of_type("AWS::SQS::QueuePolicy").values()
    tls_only = {
        policy["Properties"]["Queues"][0]["Ref"]
        for policy in policies
        if _denies_plain_http(policy["Properties"]["PolicyDocument"]["Statement"], "sqs:*")
    }

    assert len(queues) == 4
    assert tls_only == set(queues)
    assert all(queue["Properties"]["SqsManagedSseEnabled"] for queue in queues.values())


def test_what_sqs_gives_up_goes_to_the_undelivered_queue_and_never_to_the_dead_letter_queue(
    any_stage: Template,
) -> None:
    redrives = {
        name: queue["Properties"]["RedrivePolicy"]
        for name, queue in any_stage.of_type(QUEUE).items()
        if "RedrivePolicy" in queue["Properties"]
    }

    assert redrives == {
        any_stage.named(QUEUE, "QueuesWork"): {
            "deadLetterTargetArn": any_stage.arn_of(QUEUE, "QueuesUndelivered"),
            "maxReceiveCount": 20,
        }
    }


def test_a_message_stays_hidden_for_six_function_timeouts(any_stage: Template) -> None:
    visibility = any_stage.one(QUEUE, "QueuesWork")["VisibilityTimeout"]
    timeout = any_stage.one("AWS::Lambda::Function", "ThumbnailWorker")["Timeout"]

    assert visibility >= 6 * timeout


def test_the_queues_of_last_resort_keep_longest(any_stage: Template) -> None:
    retention = {
        name: any_stage.one(QUEUE, f"Queues{name}")["MessageRetentionPeriod"]
        for name in ("Work", "Undelivered", "DeadLetter")
    }

    assert retention == {"Work": 345_600, "Undelivered": 1_209_600, "DeadLetter": 1_209_600}


def _denies_plain_http(statements: list[dict[str, object]], action: str) -> bool:
    return any(
        statement["Effect"] == "Deny"
        and statement["Action"] == action
        and statement["Principal"] == {"AWS": "*"}
        and json.dumps(statement["Condition"]) == '{"Bool": {"aws:SecureTransport": "false"}}'
        for statement in statements
    )
