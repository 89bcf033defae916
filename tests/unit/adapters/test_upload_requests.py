"""What the upload adapter asks of S3: moto ignores a copy's conditions, and no emulator checks a form."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from thumbline.adapters.aws.uploads import S3Uploads
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.uploads import Announcement, UploadedObject
from thumbline.ports.uploads import UploadChangedError

KEY, ORIGINAL = "uploads/owner/upl_1", "originals/img_1"
PICTURE = bytes(range(256)) * 10
SHA256 = hashlib.sha256(PICTURE)
CHECKSUM = base64.b64encode(SHA256.digest()).decode()
ANNOUNCED = Announcement(byte_length=len(PICTURE), sha256=SHA256.hexdigest(), content_type="image/png")
VERSION = '"etag"'
COPY = {
    "Bucket": "bucket",
    "Key": ORIGINAL,
    "CopySource": {"Bucket": "bucket", "Key": KEY},
    "CopySourceIfMatch": VERSION,
    "IfNoneMatch": "*",
    "MetadataDirective": "REPLACE",
    "TaggingDirective": "REPLACE",
    "ContentType": "application/octet-stream",
    "ChecksumAlgorithm": "SHA256",
}
HEAD = {"Bucket": "bucket", "Key": KEY}
DESCRIBED = {
    "ContentLength": len(PICTURE),
    "ContentType": "image/png",
    "ETag": VERSION,
    "Metadata": {"sha256": ANNOUNCED.sha256},
}


@pytest.fixture(scope="module")
def client() -> Any:
    return boto3.client("s3")


@pytest.fixture
def s3(client: Any) -> Iterator[Stubber]:
    """Every answer that a test plans must be asked for."""
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def uploads(client: Any, s3: Stubber) -> S3Uploads:  # noqa: ARG001 (the client is stubbed)
    return S3Uploads(client, "bucket")


def body(data: bytes) -> StreamingBody:
    return StreamingBody(io.BytesIO(data), len(data))


def test_a_form_admits_one_object_and_for_a_while(
    uploads: S3Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 refuses whatever the policy does not say: another key, size, type or content, or a later day."""
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    monkeypatch.setattr("botocore.signers.get_current_datetime", lambda *_, **__: now)
    form = uploads.sign_form(KEY, ANNOUNCED, 900)

    policy = json.loads(base64.b64decode(form.fields["policy"]))
    assert policy["expiration"] == "2026-01-02T03:19:05Z"
    admitted = {
        "bucket": "bucket",
        "key": KEY,
        "Content-Type": "image/png",
        "x-amz-checksum-algorithm": "SHA256",
        "x-amz-checksum-sha256": CHECKSUM,
        "x-amz-meta-sha256": ANNOUNCED.sha256,
    }
    assert ["content-length-range", len(PICTURE), len(PICTURE)] in policy["conditions"]
    for name, value in admitted.items():
        assert {name: value} in policy["conditions"], name
        assert name == "bucket" or form.fields[name] == value


def test_an_upload_is_described_as_s3_verified_it(s3: Stubber, uploads: S3Uploads) -> None:
    """The first bytes are those of the version that was described, and no more of them are fetched."""
    s3.add_response(
        "head_object", DESCRIBED | {"ChecksumSHA256": CHECKSUM}, HEAD | {"ChecksumMode": "ENABLED"}
    )
    s3.add_response(
        "get_object",
        {"Body": body(PICTURE[:1024])},
        HEAD | {"IfMatch": VERSION, "Range": "bytes=0-1023"},
    )
    assert uploads.find_upload(KEY) == UploadedObject(
        byte_length=len(PICTURE),
        sha256=ANNOUNCED.sha256,
        content_type="image/png",
        announced_sha256=ANNOUNCED.sha256,
        version=VERSION,
        signature=PICTURE[:1024],
    )


def test_an_upload_that_nobody_verified_is_verified_here(s3: Stubber, uploads: S3Uploads) -> None:
    s3.add_response("head_object", DESCRIBED, HEAD | {"ChecksumMode": "ENABLED"})
    s3.add_response("get_object", {"Body": body(b"x")}, HEAD | {"IfMatch": VERSION, "Range": "bytes=0-1023"})
    s3.add_response("get_object", {"Body": body(PICTURE[::-1])}, HEAD | {"IfMatch": VERSION})
    found = uploads.find_upload(KEY)
    assert found is not None
    assert found.sha256 == hashlib.sha256(PICTURE[::-1]).hexdigest()


def test_a_copy_is_of_the_version_that_was_looked_at_and_overwrites_nothing(
    s3: Stubber, uploads: S3Uploads
) -> None:
    s3.add_response("copy_object", {}, COPY)
    uploads.copy_upload(KEY, VERSION, ORIGINAL)


def test_a_copy_that_was_made_before_is_an_unheard_try_of_ours(s3: Stubber, uploads: S3Uploads) -> None:
    s3.add_client_error("copy_object", "PreconditionFailed", expected_params=COPY)
    s3.add_response("head_object", {"ETag": VERSION}, HEAD)
    uploads.copy_upload(KEY, VERSION, ORIGINAL)


def test_a_copy_of_what_has_changed_meanwhile_is_refused(s3: Stubber, uploads: S3Uploads) -> None:
    s3.add_client_error("copy_object", "PreconditionFailed", expected_params=COPY)
    s3.add_response("head_object", {"ETag": '"another"'}, HEAD)
    with pytest.raises(UploadChangedError):
        uploads.copy_upload(KEY, VERSION, ORIGINAL)


@pytest.mark.parametrize("refusal", ["PreconditionFailed", "NoSuchKey"])
def test_a_copy_of_what_is_gone_meanwhile_is_refused(s3: Stubber, uploads: S3Uploads, refusal: str) -> None:
    s3.add_client_error("copy_object", refusal, expected_params=COPY)
    if refusal == "PreconditionFailed":
        s3.add_client_error("head_object", "404", expected_params=HEAD)
    with pytest.raises(UploadChangedError):
        uploads.copy_upload(KEY, VERSION, ORIGINAL)


@pytest.mark.parametrize("code", ["SlowDown", "AccessDenied", "InternalError"])
def test_a_copy_that_failed_is_tried_again_by_the_client(s3: Stubber, uploads: S3Uploads, code: str) -> None:
    s3.add_client_error("copy_object", code, expected_params=COPY)
    with pytest.raises(DependencyUnavailableError, match=code):
        uploads.copy_upload(KEY, VERSION, ORIGINAL)
