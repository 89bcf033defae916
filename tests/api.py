"""ingest_api on the twins, called as API Gateway would."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from functions.ingest_api.handler import lambda_handler
from tests.events import LambdaContext, api_request
from tests.world import SMALL, World
from thumbline.adapters.aws.request_time import RequestTime
from thumbline.adapters.memory.access import MemoryAccess
from thumbline.adapters.memory.owner_index import MemoryOwnerIndex
from thumbline.adapters.memory.uploads import MemoryUploads
from thumbline.bootstrap.ingest_api import Ingest
from thumbline.domain.presets import DEFAULT_PRESET
from thumbline.ports.uploads import UploadForm
from thumbline.service.admit_job import OpenJobs
from thumbline.service.delete_job import Deletion
from thumbline.settings import IngestSettings
from tools.chaos.universe import TIMINGS

KEY = {"Idempotency-Key": "7c1f6e0a"}
SETTINGS = IngestSettings(
    jobs_table="jobs",
    idempotency_table="idempotency",
    access_table="access",
    bucket="bucket",
    owner_source="iam",
    presets=(DEFAULT_PRESET, SMALL),
    inline_limit_bytes=4_500_000,
    upload_limit_bytes=100_000_000,
    requests_per_second=50,
    max_open_jobs=10,
    timings=TIMINGS,
    idempotency_seconds=86_400,
    retry_after_seconds=2,
    signed_url_seconds=300,
    stage="dev",
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

    def __init__(self, settings: IngestSettings = SETTINGS, world: World | None = None) -> None:
        self.world = World() if world is None else world
        self.settings = settings
        self.access = MemoryAccess(self.world.faults)
        self.uploads = MemoryUploads(self.world.objects, self.world.faults)
        index = MemoryOwnerIndex(self.world.tables, self.world.faults)
        open_jobs = OpenJobs(index, self.world.clock, settings.max_open_jobs)
        self.ingest = Ingest(
            settings=settings,
            acceptance=replace(self.world.acceptance, admit=open_jobs.admit),
            deletion=Deletion(
                jobs=self.world.tables,
                objects=self.world.objects,
                clock=self.world.clock,
                ids=self.world.ids,
                timings=settings.timings,
            ),
            index=index,
            uploads=self.uploads,
            access=self.access,
            signer=self.world.objects,
            time=RequestTime(),
        )

    def call(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: dict[str, Any] | None = None,
        user: str = "AIDAALICE",
    ) -> Answer:
        event = api_request(method, target, body, headers, user)
        return Answer(lambda_handler(event, LambdaContext(), self.ingest))

    def post(self, body: bytes = b"pixels", **headers: str) -> Answer:
        sent = KEY | {"Content-Type": "image/jpeg"} | {n.replace("_", "-"): v for n, v in headers.items()}
        return self.call("POST", "/images", body, sent)

    def post_json(self, target: str, document: Any, user: str = "AIDAALICE", **headers: str) -> Answer:
        sent = KEY | {"Content-Type": "application/json"}
        sent |= {n.replace("_", "-"): v for n, v in headers.items()}
        return self.call("POST", target, json.dumps(document).encode(), sent, user)

    def begin_upload(self, body: bytes, user: str = "AIDAALICE") -> Answer:
        announced = {"byte_length": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        return self.post_json("/uploads", announced | {"content_type": "image/png"}, user)

    def upload(self, body: bytes, user: str = "AIDAALICE") -> str:
        """The id of an upload that has arrived."""
        begun = self.begin_upload(body, user).document
        self.uploads.send(UploadForm(begun["url"], begun["fields"]), body)
        return str(begun["upload_id"])

    def nothing_is_stored(self) -> bool:
        return not self.world.tables.rows and not self.world.tables.records and not self.world.objects.objects

    def finish(self) -> None:
        self.world.relay()
        self.world.work()
