"""What the S3 adapter asks for: checksums, conditions, and every page of a listing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from thumbline.adapters.aws.objects import S3Objects
from thumbline.domain.errors import DependencyUnavailableError

KEY = "originals/img_1"
DATA = b"a picture"
SHA256 = hashlib.sha256(DATA)
ORIGINAL = {
    "Bucket": "bucket",
    "Key": KEY,
    "Body": DATA,
    "ContentType": "application/octet-stream",
    "ChecksumSHA256": base64.b64encode(SHA256.digest()).decode(),
    "IfNoneMatch": "*",
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
def objects(client: Any, s3: Stubber) -> S3Objects:  # noqa: ARG001 (the client is stubbed)
    return S3Objects(client, "bucket")


def test_an_original_is_verified_by_s3_and_never_overwritten(s3: Stubber, objects: S3Objects) -> None:
    s3.add_response("put_object", {}, ORIGINAL)
    objects.put_original(KEY, DATA, SHA256.hexdigest())


def test_an_original_that_is_there_already_is_an_unheard_try_of_ours(s3: Stubber, objects: S3Objects) -> None:
    s3.add_client_error("put_object", "PreconditionFailed", expected_params=ORIGINAL)
    objects.put_original(KEY, DATA, SHA256.hexdigest())


@pytest.mark.parametrize("code", ["BadDigest", "SlowDown", "ConditionalRequestConflict", "AccessDenied"])
def test_an_original_that_was_not_stored_is_not_accepted(s3: Stubber, objects: S3Objects, code: str) -> None:
    s3.add_client_error("put_object", code, expected_params=ORIGINAL)
    with pytest.raises(DependencyUnavailableError, match=code):
        objects.put_original(KEY, DATA, SHA256.hexdigest())


def test_everything_under_a_prefix_is_removed_however_many_pages_it_fills(
    s3: Stubber, objects: S3Objects
) -> None:
    asked = {"Bucket": "bucket", "Prefix": "thumbnails/img_1/"}
    pages = [["a", "b"], [], ["c"]]
    for number, names in enumerate(pages):
        is_last = number == len(pages) - 1
        s3.add_response(
            "list_objects_v2",
            {
                "IsTruncated": not is_last,
                "Contents": [{"Key": name} for name in names],
                **({} if is_last else {"NextContinuationToken": f"page {number + 1}"}),
            },
            asked | ({"ContinuationToken": f"page {number}"} if number else {}),
        )
        for name in names:
            s3.add_response("delete_object", {}, {"Bucket": "bucket", "Key": name})
    assert objects.remove_all("thumbnails/img_1/") == 3
