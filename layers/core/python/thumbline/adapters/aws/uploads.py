"""The bucket's uploads.
https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from thumbline.adapters.aws.failures import error_code, unavailable_when_failing
from thumbline.adapters.aws.objects import ORIGINAL_CONTENT_TYPE
from thumbline.domain.errors import DependencyUnavailableError
from thumbline.domain.uploads import SIGNATURE_BYTES, Announcement, UploadedObject
from thumbline.ports.uploads import UploadChangedError, UploadForm

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

DEPENDENCY = "s3"
_SHA256_METADATA = "x-amz-meta-sha256"
_CHUNK_BYTES = 1 << 20
_MISSING = frozenset({"NoSuchKey", "404"})


class S3Uploads:
    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def sign_form(self, key: str, announced: Announcement, seconds: int) -> UploadForm:
        fields = {
            "Content-Type": announced.content_type,
            "x-amz-checksum-algorithm": "SHA256",
            "x-amz-checksum-sha256": base64.b64encode(bytes.fromhex(announced.sha256)).decode(),
            _SHA256_METADATA: announced.sha256,
        }
        conditions: list[Any] = [{name: value} for name, value in fields.items()]
        conditions.append(["content-length-range", announced.byte_length, announced.byte_length])
        signed = self._client.generate_presigned_post(
            self._bucket, key, Fields=dict(fields), Conditions=conditions, ExpiresIn=seconds
        )
        return UploadForm(signed["url"], signed["fields"])

    def find_upload(self, key: str) -> UploadedObject | None:
        with unavailable_when_failing(DEPENDENCY):
            try:
                head = self._client.head_object(Bucket=self._bucket, Key=key, ChecksumMode="ENABLED")
                start = self._client.get_object(
                    Bucket=self._bucket,
                    Key=key,
                    IfMatch=head["ETag"],
                    Range=f"bytes=0-{SIGNATURE_BYTES - 1}",
                )["Body"].read()
            except ClientError as error:
                if error_code(error) in _MISSING:
                    return None
                raise
        return UploadedObject(
            byte_length=head["ContentLength"],
            sha256=self._sha256(key, head),
            content_type=head.get("ContentType", ""),
            announced_sha256=head["Metadata"].get("sha256", ""),
            version=head["ETag"],
            signature=start,
        )

    def copy_upload(self, key: str, version: str, original_key: str) -> None:
        try:
            with unavailable_when_failing(DEPENDENCY):
                self._client.copy_object(
                    Bucket=self._bucket,
                    Key=original_key,
                    CopySource={"Bucket": self._bucket, "Key": key},
                    CopySourceIfMatch=version,
                    IfNoneMatch="*",
                    MetadataDirective="REPLACE",
                    TaggingDirective="REPLACE",
                    ContentType=ORIGINAL_CONTENT_TYPE,
                    ChecksumAlgorithm="SHA256",
                )
        except DependencyUnavailableError as error:
            if error.detail in _MISSING:
                raise UploadChangedError(key) from error
            if error.detail != "PreconditionFailed":
                raise
            self._explain_refusal(key, version, error)

    def _explain_refusal(self, key: str, version: str, refusal: DependencyUnavailableError) -> None:
        """One code, two conditions: the upload changed, or the original is there from an unheard try."""
        with unavailable_when_failing(DEPENDENCY):
            try:
                head = self._client.head_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if error_code(error) in _MISSING:
                    raise UploadChangedError(key) from refusal
                raise
        if head["ETag"] != version:
            raise UploadChangedError(key) from refusal

    def _sha256(self, key: str, head: Any) -> str:
        """As S3 verified it when the form was sent; computed here for a store that verified nothing."""
        if "ChecksumSHA256" in head:
            return base64.b64decode(head["ChecksumSHA256"]).hex()
        digest = hashlib.sha256()
        with unavailable_when_failing(DEPENDENCY):
            answer = self._client.get_object(Bucket=self._bucket, Key=key, IfMatch=head["ETag"])
            for chunk in answer["Body"].iter_chunks(_CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()
