"""The four handlers as deployed, with their own settings, on moto: from a POST to a right thumbnail."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import boto3
import pytest
from moto import mock_aws
from PIL import Image

from functions.ingest_api import handler as ingest_api
from functions.job_reconciler import handler as job_reconciler
from functions.outbox_relay import handler as outbox_relay
from functions.thumbnail_worker import handler as thumbnail_worker
from tests.api import SETTINGS
from tests.aws_resources import create_access_table, create_bucket, create_queue, create_tables
from tests.events import LambdaContext, api_request
from thumbline.adapters.pillow.subprocess_renderer import SubprocessRenderer
from thumbline.ports.renderer import Rendering
from thumbline.settings import ReconcilerSettings, RelaySettings, WorkerSettings
from tools.chaos.universe import LIMITS, TIMINGS

CONTEXT = LambdaContext()


def jpeg(width: int = 640, height: int = 480) -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(file, "JPEG")
    return file.getvalue()


@dataclass
class Deployment:
    """What the platform does between the functions, by hand."""

    stream_arn: str
    work_queue: str
    dead_letter_queue: str
    undelivered_queue: str
    relay_failure_queue: str

    def __post_init__(self) -> None:
        self.streams: Any = boto3.client("dynamodbstreams")
        self.sqs: Any = boto3.client("sqs")
        self.s3: Any = boto3.client("s3")
        self._relayed = 0

    def call(self, method: str, target: str, body: bytes | None = None, key: str = "k") -> dict[str, Any]:
        headers = {"Idempotency-Key": key, "Content-Type": "image/jpeg"}
        return ingest_api.lambda_handler(api_request(method, target, body, headers), CONTEXT)

    def post(self, body: bytes, key: str = "k") -> str:
        answer = self.call("POST", "/images", body, key)
        assert answer["statusCode"] == 202, answer
        return str(json.loads(answer["body"])["job_id"])

    def job(self, job_id: str) -> dict[str, Any]:
        answer = self.call("GET", f"/jobs/{job_id}")
        assert answer["statusCode"] == 200
        document = json.loads(answer["body"])
        assert isinstance(document, dict)
        return document

    def shard_ids(self) -> list[str]:
        stream = self.streams.describe_stream(StreamArn=self.stream_arn)["StreamDescription"]
        return [shard["ShardId"] for shard in stream["Shards"]]

    def stream_records(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        for shard_id in self.shard_ids():
            iterator = self.streams.get_shard_iterator(
                StreamArn=self.stream_arn, ShardId=shard_id, ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            records.extend(self.streams.get_records(ShardIterator=iterator)["Records"])
        return records

    def relay(self) -> dict[str, Any]:
        records = self.stream_records()
        new, self._relayed = records[self._relayed :], len(records)
        return outbox_relay.lambda_handler({"Records": new}, CONTEXT)

    def receive(self, url: str) -> list[dict[str, Any]]:
        answer = self.sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def work(self) -> dict[str, Any]:
        messages = self.receive(self.work_queue)
        records = [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
            }
            for message in messages
        ]
        answer = thumbnail_worker.lambda_handler({"Records": records}, CONTEXT)
        kept = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        for message in messages:
            if message["MessageId"] not in kept:
                self.sqs.delete_message(QueueUrl=self.work_queue, ReceiptHandle=message["ReceiptHandle"])
        return answer


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    with mock_aws():
        sqs: Any = boto3.client("sqs")
        create_bucket(boto3.client("s3"))
        create_access_table(boto3.client("dynamodb"))
        queues = [
            create_queue(sqs, name, VisibilityTimeout="720")
            for name in ("work", "dead", "undelivered", "relay-failures")
        ]
        deployed = Deployment(create_tables(boto3.client("dynamodb")), *queues)
        environments = [
            replace(
                SETTINGS, owner_source="local", timings=replace(TIMINGS, queued_patience_seconds=1)
            ).to_env(),
            RelaySettings(queues[0], queues[1], "dev").to_env(),
            WorkerSettings("jobs", "bucket", queues[0], queues[1], TIMINGS, 4, LIMITS, "dev").to_env(),
            ReconcilerSettings(
                "jobs", "bucket", queues[0], queues[2], queues[3], TIMINGS, 400, "dev"
            ).to_env(),
        ]
        for environment in environments:
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
        caches = [
            ingest_api._deployed,
            outbox_relay._relay,
            thumbnail_worker._worker,
            job_reconciler._reconciler,
        ]
        yield deployed
        thumbnail_worker._worker().renderer.close()  # type: ignore[attr-defined]
        for cache in caches:
            cache.cache_clear()


def test_the_main_job(deployment: Deployment) -> None:
    """S1, S12, S18 to S21: accepted, published, rendered, stored, readable."""
    job_id = deployment.post(jpeg())
    assert deployment.job(job_id)["status"] == "QUEUED"
    assert deployment.relay() == {"batchItemFailures": []}
    assert deployment.work() == {"batchItemFailures": []}
    job = deployment.job(job_id)
    assert job["status"] == "SUCCEEDED"
    assert job["result"] == f"/v1/images/{job_id}/thumbnail"
    result = job["results"]["thumbnail"]
    assert (result["width"], result["height"], result["type"]) == (320, 240, "image/jpeg")
    redirect = deployment.call("GET", f"/images/{job_id}/thumbnail")
    assert redirect["statusCode"] == 302
    (found,) = deployment.s3.list_objects_v2(Bucket="bucket", Prefix="thumbnails/")["Contents"]
    assert found["Key"] in redirect["multiValueHeaders"]["Location"][0]
    stored = deployment.s3.get_object(Bucket="bucket", Key=found["Key"])
    assert stored["ContentType"] == "image/jpeg"
    with Image.open(stored["Body"]) as thumbnail:
        assert thumbnail.size == (320, 240)
    assert not deployment.receive(deployment.work_queue)


def test_every_metric_names_its_function_and_its_stage(
    deployment: Deployment, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the alarms read them: stages of one account must not ring for each other."""
    calls: list[Callable[[], object]] = [
        lambda: deployment.post(jpeg()),
        deployment.relay,
        deployment.work,
        lambda: job_reconciler.lambda_handler({}, CONTEXT),
    ]
    for call in calls:
        # Powertools shares them in a process; in Lambda each function has its own.
        ingest_api.metrics.clear_default_dimensions()
        ingest_api.metrics.clear_metrics()
        call()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    emitted = [line for line in lines if "_aws" in line]
    assert {line["service"] for line in emitted} == {
        "ingest_api",
        "outbox_relay",
        "thumbnail_worker",
        "job_reconciler",
    }
    for line in emitted:
        (metrics,) = line["_aws"]["CloudWatchMetrics"]
        ((*dimensions,),) = metrics["Dimensions"]
        assert (metrics["Namespace"], sorted(dimensions)) == ("Thumbline", ["service", "stage"])
        assert line["stage"] == "dev"


def test_nobody_renders_before_the_worker_does(deployment: Deployment) -> None:
    """S1: neither the POST nor the relay opens the picture."""
    picture = jpeg()
    rendered: list[bytes] = []
    render = SubprocessRenderer.render

    def watched(self: SubprocessRenderer, original: bytes, *args: Any, **kwargs: Any) -> Rendering:
        rendered.append(original)
        return render(self, original, *args, **kwargs)

    def opened(*_: Any, **__: Any) -> Any:
        raise AssertionError("a picture was opened in the function's own process")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SubprocessRenderer, "render", watched)
        patch.setattr(Image, "open", opened)
        job_id = deployment.post(picture)
        deployment.relay()
        assert not rendered
        assert "Contents" not in deployment.s3.list_objects_v2(Bucket="bucket", Prefix="thumbnails/")
        deployment.work()
    assert rendered == [picture]
    assert deployment.job(job_id)["status"] == "SUCCEEDED"


def test_a_bad_picture_and_a_bad_message_leave_their_siblings_unharmed(deployment: Deployment) -> None:
    good = deployment.post(jpeg(), "good")
    truncated = deployment.post(jpeg()[:2_000], "truncated")
    deployment.relay()
    deployment.sqs.send_message(QueueUrl=deployment.work_queue, MessageBody="junk")
    deployment.sqs.send_message(
        QueueUrl=deployment.work_queue, MessageBody='{"schema_version": 2, "job_id": "img_42"}'
    )
    assert deployment.work() == {"batchItemFailures": []}
    assert deployment.job(good)["status"] == "SUCCEEDED"
    assert deployment.job(truncated)["problem"]["code"] == "truncated"
    copies = deployment.receive(deployment.dead_letter_queue)
    reasons = {copy["MessageAttributes"]["reason"]["StringValue"] for copy in copies}
    assert {copy["MessageAttributes"]["code"]["StringValue"] for copy in copies} == {"bad_message"}
    assert reasons == {"The message body is not JSON", "schema_version is 2; this worker knows 1"}


def test_a_message_of_a_later_version_fails_the_job_that_it_names(deployment: Deployment) -> None:
    job_id = deployment.post(jpeg())
    deployment.sqs.send_message(
        QueueUrl=deployment.work_queue, MessageBody=json.dumps({"schema_version": 2, "job_id": job_id})
    )
    assert deployment.work() == {"batchItemFailures": []}
    assert deployment.job(job_id)["problem"]["code"] == "bad_message"
    (copy,) = deployment.receive(deployment.dead_letter_queue)
    assert copy["MessageAttributes"]["job_id"]["StringValue"] == job_id


def test_a_job_whose_publish_was_lost_is_found_by_the_reconciler(deployment: Deployment) -> None:
    """S127, with and without the outbox: the stream record never reached the relay."""
    job_id = deployment.post(jpeg())
    table: Any = boto3.client("dynamodb")
    table.update_item(
        TableName="jobs",
        Key={"job_id": {"S": job_id}},
        UpdateExpression="SET available_at = :then, next_check_at = :then",
        ExpressionAttributeValues={":then": {"N": "1"}},
    )
    assert job_reconciler.lambda_handler({}, CONTEXT) == {"republished": 1}
    deployment.work()
    assert deployment.job(job_id)["status"] == "SUCCEEDED"
    assert job_reconciler.lambda_handler({}, CONTEXT) == {}


def test_what_the_relay_gave_up_on_is_read_from_the_stream_again(deployment: Deployment) -> None:
    """The failure record as Lambda writes it: where in the stream, not what was there."""
    job_id = deployment.post(jpeg())
    records = deployment.stream_records()
    failure = {
        "version": "1.0",
        "DDBStreamBatchInfo": {
            "shardId": deployment.shard_ids()[0],
            "startSequenceNumber": records[0]["dynamodb"]["SequenceNumber"],
            "endSequenceNumber": records[-1]["dynamodb"]["SequenceNumber"],
            "batchSize": len(records),
            "streamArn": deployment.stream_arn,
        },
    }
    deployment.sqs.send_message(QueueUrl=deployment.relay_failure_queue, MessageBody=json.dumps(failure))
    assert job_reconciler.lambda_handler({}, CONTEXT) == {"owed_again": 1}
    assert not deployment.receive(deployment.relay_failure_queue)
    deployment._relayed = len(records)
    deployment.relay()
    deployment.work()
    assert deployment.job(job_id)["status"] == "SUCCEEDED"


def test_a_duplicate_delivery_renders_once(deployment: Deployment) -> None:
    """S31, S135."""
    job_id = deployment.post(jpeg())
    deployment.relay()
    deployment._relayed = 0
    deployment.relay()
    deployment.work()
    assert deployment.job(job_id)["status"] == "SUCCEEDED"
    versions = deployment.s3.list_objects_v2(Bucket="bucket", Prefix="thumbnails/")["Contents"]
    assert len(versions) == 1
    row: Any = boto3.client("dynamodb")
    item = row.get_item(TableName="jobs", Key={"job_id": {"S": job_id}})["Item"]
    assert item["attempts"] == {"N": "1"}


def test_a_wrong_setting_fails_the_cold_start_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THUMBLINE_WORK_QUEUE_URL", "x")
    outbox_relay._relay.cache_clear()
    with pytest.raises(Exception, match="THUMBLINE_DEAD_LETTER_QUEUE_URL is not set"):
        outbox_relay.lambda_handler({"Records": []}, CONTEXT)
