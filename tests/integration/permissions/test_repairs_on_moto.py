"""The four handlers on moto once more: the ways that a job takes when something goes wrong."""

from __future__ import annotations

from typing import Any

import boto3

from functions.job_reconciler import handler as job_reconciler
from tests.integration.test_pipeline_on_moto import CONTEXT, Deployment, jpeg
from tools.chaos.universe import TIMINGS

LONG_AGO = "img_00000000000000000000000000"
"""A job id of the year 1970."""


def change(job_id: str, **numbers: int) -> None:
    """Sets attributes of the row, as time or a crash would have."""
    dynamodb: Any = boto3.client("dynamodb")
    dynamodb.update_item(
        TableName="jobs",
        Key={"job_id": {"S": job_id}},
        UpdateExpression="SET " + ", ".join(f"{name} = :{name}" for name in numbers),
        ExpressionAttributeValues={f":{name}": {"N": str(number)} for name, number in numbers.items()},
    )


def keys(deployment: Deployment) -> list[str]:
    listed = deployment.s3.list_objects_v2(Bucket="bucket").get("Contents", [])
    return [found["Key"] for found in listed]


def test_an_exhausted_job_leaves_a_copy_for_a_person(deployment: Deployment) -> None:
    job_id = deployment.post(jpeg())
    deployment.relay()
    change(job_id, attempts=TIMINGS.attempt_cap)

    deployment.work()
    deployment.relay()

    assert deployment.job(job_id)["problem"]["code"] == "attempts_exhausted"
    (copy,) = deployment.receive(deployment.dead_letter_queue)
    assert copy["MessageAttributes"]["job_id"]["StringValue"] == job_id


def test_an_undelivered_message_is_owed_again(deployment: Deployment) -> None:
    job_id = deployment.post(jpeg())
    deployment.relay()
    (message,) = deployment.receive(deployment.work_queue)
    deployment.sqs.send_message(QueueUrl=deployment.undelivered_queue, MessageBody=message["Body"])

    assert job_reconciler.lambda_handler({}, CONTEXT) == {"requeued": 1}
    assert not deployment.receive(deployment.undelivered_queue)
    deployment.relay()
    deployment.work()
    assert deployment.job(job_id)["status"] == "SUCCEEDED"


def test_a_job_goes_with_its_objects_at_the_end_of_its_retention(deployment: Deployment) -> None:
    job_id = deployment.post(jpeg())
    deployment.relay()
    deployment.work()
    assert len(keys(deployment)) == 2

    change(job_id, next_check_at=1)
    assert job_reconciler.lambda_handler({}, CONTEXT) == {"retired": 1}
    assert deployment.call("GET", f"/jobs/{job_id}")["statusCode"] == 410
    change(job_id, next_check_at=1)
    assert job_reconciler.lambda_handler({}, CONTEXT) == {"purged": 1}

    assert keys(deployment) == []
    assert deployment.call("GET", f"/jobs/{job_id}")["statusCode"] == 404


def test_an_original_without_a_row_is_removed(deployment: Deployment) -> None:
    deployment.s3.put_object(Bucket="bucket", Key=f"originals/{LONG_AGO}", Body=jpeg())

    assert job_reconciler.lambda_handler({}, CONTEXT) == {"orphan_removed": 1}
    assert keys(deployment) == []
