"""The bucket, behind every object port."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from thumbline.adapters.aws.failures import error_code, unavailable_when_failing
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.schema import ORIGINALS_PREFIX
from thumbline.ports.objects import FetchMethod, ObjectMissingError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

DEPENDENCY = "s3"
ORIGINAL_CONTENT_TYPE = "application/octet-stream"
"""An original is never served, so nobody's declared type is ever believed."""
THUMBNAIL_CACHE_CONTROL = "private, max-age=31536000, immutable"
"""The key holds the content's hash, so what stands under it never changes."""


class S3Objects:
    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put_original(self, key: str, data: bytes, sha256: str) -> None:
        try:
            with unavailable_when_failing(DEPENDENCY):
                self._client.put_object(
                    Bucket=self._bucket,
                    Key=key,
                    Body=data,
                    ContentType=ORIGINAL_CONTENT_TYPE,
                    ChecksumSHA256=base64.b64encode(bytes.fromhex(sha256)).decode(),
                    IfNoneMatch="*",
                )
        except DependencyUnavailableError as error:
            if error.detail != "PreconditionFailed":
                raise
            # The key holds 80 random bits of this very request: what is there is an unheard try of ours.

    def get_original(self, key: str) -> bytes:
        with unavailable_when_failing(DEPENDENCY):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if error_code(error) in ("NoSuchKey", "404"):
                    raise ObjectMissingError(key) from error
                raise
            return answer["Body"].read()

    def put_thumbnail(self, key: str, data: bytes, content_type: str) -> None:
        with unavailable_when_failing(DEPENDENCY):
            self._client.put_object(
                Bucket=self._bucket,
                Key=key,
                Body=data,
                ContentType=content_type,
                CacheControl=THUMBNAIL_CACHE_CONTROL,
            )

    def remove_all(self, prefix: str) -> int:
        removed = 0
        with unavailable_when_failing(DEPENDENCY):
            for page in self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix
            ):
                for found in page.get("Contents", []):
                    self._client.delete_object(Bucket=self._bucket, Key=found["Key"])
                    removed += 1
        return removed

    def originals_after(self, key: str, limit: int) -> list[str]:
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=ORIGINALS_PREFIX, StartAfter=key, MaxKeys=limit
            )
        return [found["Key"] for found in answer.get("Contents", [])]

    def sign(self, key: str, content_type: str, seconds: int, method: FetchMethod) -> str:
        return self._client.generate_presigned_url(
            "head_object" if method == "HEAD" else "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": key,
                "ResponseContentType": content_type,
                "ResponseContentDisposition": "inline",
            },
            ExpiresIn=seconds,
        )
