"""API clients that say who calls, by a signature or by a bearer token: to the API, and to nobody else."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from urllib.parse import urlsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError

from tools.client import Answer, ImageApi

_SERVICE = "execute-api"
_TOKEN = re.compile(r"[!-~]+")
_GATEWAY_HOST = re.compile(r"[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?")


class SmokeError(Exception):
    """The smoke run cannot start; the message is for the person at the terminal."""


class KnownCaller(ImageApi, ABC):
    """Authorizes requests to the API alone; redirects lead to presigned links, which that would spoil."""

    @abstractmethod
    def authorize(self, request: AWSRequest) -> None:
        """Adds the headers that say who calls."""

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
            self.authorize(request)
            headers = dict(request.headers.items())
        return super().request(method, url, headers=headers, body=body, redirects=redirects)


class SignedImageApi(KnownCaller):
    """SigV4."""

    def __init__(self, base_url: str, *, credentials: Credentials, region: str) -> None:
        super().__init__(base_url)
        self._signer = SigV4Auth(credentials, _SERVICE, region)

    def authorize(self, request: AWSRequest) -> None:
        self._signer.add_auth(request)


class BearerImageApi(KnownCaller):
    """A token of `thumbline tokens create`. Raises SmokeError for what cannot be one."""

    def __init__(self, base_url: str, *, token: str) -> None:
        super().__init__(base_url)
        if not _TOKEN.fullmatch(token):
            raise SmokeError("TOKEN holds no token: it is one word, as `thumbline tokens create` showed it.")
        self._token = token

    def authorize(self, request: AWSRequest) -> None:
        request.headers["Authorization"] = f"Bearer {self._token}"


def api_at(url: str, session: boto3.Session, token: str = "") -> ImageApi:
    """With the token where there is one; else signed where it is API Gateway that answers, and plain for a
    stack on this machine. Raises SmokeError.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SmokeError(f"{url!r} is no base URL: give URL=https://….execute-api.REGION.amazonaws.com/v1")
    here = parts.hostname in ("127.0.0.1", "localhost")
    if token:
        if parts.scheme != "https" and not here:
            raise SmokeError("A token is sent by HTTPS alone: give URL=https://…")
        return BearerImageApi(url, token=token)
    if here:
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
