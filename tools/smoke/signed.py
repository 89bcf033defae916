"""An API client that signs what it sends to the API, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError

from tools.client import Answer, ImageApi

_SERVICE = "execute-api"
_GATEWAY_HOST = re.compile(r"[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?")


class SmokeError(Exception):
    """The smoke run cannot start; the message is for the person at the terminal."""


class SignedImageApi(ImageApi):
    """SigV4 for requests to the API; redirects lead to presigned links, which a signature would spoil."""

    def __init__(self, base_url: str, *, credentials: Credentials, region: str) -> None:
        super().__init__(base_url)
        self._signer = SigV4Auth(credentials, _SERVICE, region)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        redirects: int = 0,
    ) -> Answer:
        if urlsplit(url).netloc == urlsplit(self.base_url).netloc:
            request = AWSRequest(method, url, headers=dict(headers or {}), data=body)
            self._signer.add_auth(request)
            headers = dict(request.headers.items())
        return super().request(method, url, headers=headers, body=body, redirects=redirects)


def api_at(url: str, session: boto3.Session) -> ImageApi:
    """Signed where it is API Gateway that answers, plain for a stack on this machine. Raises SmokeError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SmokeError(f"{url!r} is no base URL: give URL=https://….execute-api.REGION.amazonaws.com/v1")
    if parts.hostname in ("127.0.0.1", "localhost"):
        return ImageApi(url)
    gateway = _GATEWAY_HOST.fullmatch(parts.hostname)
    region = gateway[1] if gateway else session.region_name
    if not region:
        raise SmokeError(f"The region of {parts.hostname} is not known: set AWS_REGION.")
    try:
        credentials = session.get_credentials()
        if credentials is None:
            raise SmokeError("There are no AWS credentials to sign with: set AWS_PROFILE, or sign in.")
        return SignedImageApi(url, credentials=credentials, region=region)
    except BotoCoreError as error:
        raise SmokeError(f"There are no usable AWS credentials: {error}") from error
