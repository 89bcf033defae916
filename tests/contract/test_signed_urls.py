"""What a signed URL admits, by the signature itself: no emulator refuses a wrong one as S3 does."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

from thumbline.adapters.aws.objects import S3Objects
from thumbline.ports.objects import FetchMethod

CREDENTIALS = Credentials("AKIAEXAMPLE", "secret")
REGION = "eu-central-1"


def signature(url: str, method: str) -> str:
    """What S3 computes for a request of this method to this URL."""
    address, _, _ = url.partition("&X-Amz-Signature=")
    request = AWSRequest(method, address)
    (request.context["timestamp"],) = parse_qs(urlsplit(address).query)["X-Amz-Date"]
    signer = S3SigV4QueryAuth(CREDENTIALS, "s3", REGION)
    return signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_it_admits_the_method_that_it_was_signed_for_and_no_other(method: FetchMethod) -> None:
    client = boto3.client(
        "s3",
        region_name=REGION,
        aws_access_key_id=CREDENTIALS.access_key,
        aws_secret_access_key=CREDENTIALS.secret_key,
        config=Config(signature_version="s3v4"),
    )
    url = S3Objects(client, "bucket").sign("thumbnails/a/1.jpg", "image/jpeg", 300, method)

    (signed,) = parse_qs(urlsplit(url).query)["X-Amz-Signature"]
    assert [asked for asked in ("GET", "HEAD") if signature(url, asked) == signed] == [method]
