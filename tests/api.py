"""ingest_api on the twins, called as API Gateway would."""

from __future__ import annotations

import json
from typing import Any

from functions.ingest_api.handler import lambda_handler
from tests.events import LambdaContext, api_request
from tests.world import SMALL, World
from thumbline.bootstrap.ingest_api import Ingest
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.settings import IngestSettings

KEY = {"Idempotency-Key": "7c1f6e0a"}
SETTINGS = IngestSettings(
    jobs_table="jobs",
    idempotency_table="idempotency",
    bucket="bucket",
    owner_source="iam",
    presets=(DEFAULT_PRESET, SMALL),
    inline_limit_bytes=4_500_000,
    deadline_seconds=86_400,
    queued_patience_seconds=300,
    idempotency_seconds=86_400,
    retry_after_seconds=2,
    signed_url_seconds=300,
)


class Answer:
    def __init__(self, raw: dict[str, Any]) -> None:
        self.status: int = raw["statusCode"]
        self.headers = {name: values[0] for name, values in raw["multiValueHeaders"].items()}
        self.body: str = raw["body"]

    @property
    def document(self) -> dict[str, Any]:
        document = json.loads(self.body)
        assert isinstance(document, dict)
        return document

    def problem(self, status: int, code: str) -> dict[str, Any]:
        assert self.headers["Content-Type"] == "application/problem+json"
        assert self.headers["Cache-Control"] == "no-store"
        problem = self.document
        assert (self.status, problem["status"], problem["code"]) == (status, status, code)
        assert problem["type"] == f"/v1/problems/{code}"
        assert problem["title"]
        assert problem["detail"]
        return problem


class Api:
    """One API on one world."""

    def __init__(self, settings: IngestSettings = SETTINGS) -> None:
        self.world = World()
        self.settings = settings

    def call(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: dict[str, Any] | None = None,
        user: str = "AIDAALICE",
    ) -> Answer:
        ingest = Ingest(settings=self.settings, acceptance=self.world.acceptance, signer=self.world.objects)
        event = api_request(method, target, body, headers, user)
        return Answer(lambda_handler(event, LambdaContext(), ingest))

    def post(self, body: bytes = b"pixels", **headers: str) -> Answer:
        sent = KEY | {"Content-Type": "image/jpeg"} | {n.replace("_", "-"): v for n, v in headers.items()}
        return self.call("POST", "/images", body, sent)

    def nothing_is_stored(self) -> bool:
        return not self.world.tables.rows and not self.world.tables.records and not self.world.objects.objects

    def finish(self) -> None:
        self.world.relay()
        self.world.work()
