"""What clients do besides sending a picture, by the handler as deployed, on moto."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from functions.ingest_api import handler as ingest_api
from tests.events import LambdaContext, api_request
from tests.integration.test_pipeline_on_moto import Deployment, jpeg


def call(method: str, target: str, document: Any = None, key: str = "upload") -> dict[str, Any]:
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    body = None if document is None else json.dumps(document).encode()
    return ingest_api.lambda_handler(api_request(method, target, body, headers), LambdaContext())


def test_jobs_are_listed_newest_first_and_page_by_page(deployment: Deployment) -> None:
    ids = [deployment.post(jpeg(), key) for key in ("first", "second", "third")]
    page = json.loads(call("GET", "/jobs?limit=2")["body"])
    rest = json.loads(call("GET", page["next"])["body"])

    listed = [job["job_id"] for job in page["jobs"] + rest["jobs"]]
    assert sorted(listed, reverse=True) == listed
    assert set(listed) == set(ids)
    assert "next" not in rest


def test_a_deleted_job_is_gone_with_its_objects(deployment: Deployment) -> None:
    job_id = deployment.post(jpeg())
    deployment.relay()
    deployment.work()
    assert call("DELETE", f"/images/{job_id}")["statusCode"] == 204

    assert call("GET", f"/jobs/{job_id}")["statusCode"] == 410
    assert deployment.s3.list_objects_v2(Bucket="bucket")["KeyCount"] == 0


def test_an_upload_becomes_a_job(deployment: Deployment) -> None:
    picture = jpeg()
    sha256 = hashlib.sha256(picture).hexdigest()
    announced = {"byte_length": len(picture), "sha256": sha256, "content_type": "image/jpeg"}
    begun = json.loads(call("POST", "/uploads", announced)["body"])
    fields = begun["fields"]
    # moto takes no forms over HTTP in process; the metadata is what the form would have fixed.
    deployment.s3.put_object(
        Bucket="bucket",
        Key=fields["key"],
        Body=picture,
        ContentType=fields["Content-Type"],
        Metadata={"sha256": fields["x-amz-meta-sha256"]},
    )
    answer = call("POST", "/images", {"upload_id": begun["upload_id"]})
    assert answer["statusCode"] == 202, answer
    job_id = json.loads(answer["body"])["job_id"]
    deployment.relay()
    deployment.work()

    job = deployment.job(job_id)
    assert (job["status"], job["byte_length"]) == ("SUCCEEDED", len(picture))
    original = deployment.s3.get_object(Bucket="bucket", Key=f"originals/{job_id}")
    assert original["Body"].read() == picture
    assert original["ContentType"] == "application/octet-stream"
