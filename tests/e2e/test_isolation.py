"""Two owners on a stack that asks for tokens: neither sees or hurts what is the other's."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from tests.e2e.conftest import PATIENCE_SECONDS
from tests.e2e.test_front_door import send
from thumbline.adapters.aws.access import DynamoDBAccess
from thumbline.adapters.system import SystemClock
from thumbline.service.issue_token import issue_token
from thumbline.service.revoke_token import revoke_token
from tools.client import Answer, ImageApi, Job, follow
from tools.demo.pictures import SAMPLE
from tools.local.environment import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY
from tools.local.paths import PROJECT_ROOT, Paths
from tools.local.stack import Stack, started_stack
from tools.smoke import __main__ as smoke

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(1000)


class Bearer(ImageApi):
    """An API client that bears a token."""

    def __init__(self, base_url: str, token: str) -> None:
        super().__init__(base_url, connections=4)
        self.headers = {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request(method, f"{self.base_url}{path}", headers=self.headers | named, body=body)

    def get(self, url: str) -> Answer:
        return self.request("GET", url, headers=self.headers)

    def post_json(self, path: str, document: object) -> Answer:
        key = f"e2e-{uuid.uuid4()}"
        body = json.dumps(document).encode()
        return self.call("POST", path, body, Content_Type="application/json", Idempotency_Key=key)

    def submit(self, key: str) -> Answer:
        return self.call(
            "POST", "/images", SAMPLE.read_bytes(), Content_Type="image/jpeg", Idempotency_Key=key
        )

    def finished(self, job_id: str) -> Job:
        url = f"{self.base_url}/jobs/{job_id}"
        return follow(self, url, patience_seconds=PATIENCE_SECONDS, interval_seconds=0.5)

    def uploaded(self) -> str:
        """The id of an upload that has arrived."""
        announced = {"byte_length": len(PICTURE), "sha256": hashlib.sha256(PICTURE).hexdigest()}
        begun = self.post_json("/uploads", announced).json()
        assert send(self, begun["url"], begun["fields"], PICTURE) == 204
        return str(begun["upload_id"])


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One of its own: the others' asks nobody who they are."""
    paths = Paths(project=PROJECT_ROOT, state=tmp_path_factory.mktemp("tokens"), identity="token")
    with started_stack(paths, any_port=True) as stack:
        yield stack


@pytest.fixture(scope="module")
def tokens(stack: Stack) -> DynamoDBAccess:
    session = boto3.Session(ACCESS_KEY_ID, SECRET_ACCESS_KEY, region_name=REGION)
    dynamodb = session.client("dynamodb", endpoint_url=stack.state.emulator_url)
    return DynamoDBAccess(dynamodb, stack.state.outputs["AccessTableName"])


@pytest.fixture(scope="module")
def alice(stack: Stack, tokens: DynamoDBAccess) -> Bearer:
    return Bearer(stack.url, issue_token("alice", tokens, SystemClock())[0])


@pytest.fixture(scope="module")
def bob(stack: Stack, tokens: DynamoDBAccess) -> Bearer:
    return Bearer(stack.url, issue_token("bob", tokens, SystemClock())[0])


def test_without_a_token_nothing_is_answered_but_preflights(stack: Stack) -> None:
    nobody, stranger = ImageApi(stack.url), Bearer(stack.url, f"thumb_{'0' * 16}_{'0' * 64}")
    for answer in (
        nobody.get(f"{stack.url}/jobs"),
        nobody.get(f"{stack.url}/openapi.json"),
        nobody.request("DELETE", f"{stack.url}/images/img_42"),
        stranger.get(f"{stack.url}/jobs"),
    ):
        assert answer.status == 401
        assert answer.problem is not None
        assert answer.problem.code == "invalid_token"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert nobody.request("OPTIONS", f"{stack.url}/jobs").status == 204


def test_every_route_of_one_owner_hides_what_is_the_others(alice: Bearer, bob: Bearer) -> None:
    key = f"e2e-{uuid.uuid4()}"
    job_id = alice.submit(key).json()["job_id"]
    assert alice.finished(job_id).status == "SUCCEEDED"
    alice.submit(f"{key}-2")
    upload_id = alice.uploaded()
    following = alice.call("GET", "/jobs?limit=1").json()["next"].removeprefix("/v1")
    assert re.search(r"cursor=", following)

    for method, path in (
        ("GET", f"/jobs/{job_id}"),
        ("HEAD", f"/jobs/{job_id}"),
        ("GET", f"/images/{job_id}/thumbnail"),
        ("DELETE", f"/images/{job_id}"),
        ("GET", following),
    ):
        assert bob.call(method, path).status == 404, (method, path)
    assert bob.post_json("/images", {"upload_id": upload_id}).status == 404
    assert bob.call("GET", "/jobs").json()["jobs"] == []

    # Nothing was hurt, and the same works for its owner.
    assert alice.call("GET", f"/images/{job_id}/thumbnail").status == 302
    assert alice.call("GET", following).json()["jobs"][0]["job_id"] == job_id
    assert alice.post_json("/images", {"upload_id": upload_id}).status == 202


def test_one_key_of_two_owners_is_two_jobs(alice: Bearer, bob: Bearer) -> None:
    key = f"e2e-{uuid.uuid4()}"
    hers, his = alice.submit(key), bob.submit(key)

    assert (hers.status, his.status) == (202, 202)
    assert hers.json()["job_id"] != his.json()["job_id"]
    assert "Idempotency-Replayed" not in his.headers
    assert alice.submit(key).json() == hers.json()


def test_a_revoked_token_opens_nothing_once_the_cache_has_forgotten_it(
    stack: Stack, tokens: DynamoDBAccess
) -> None:
    """It was never used, so no cache knows it."""
    token, record = issue_token("carol", tokens, SystemClock())
    revoke_token(record.token_id, tokens, SystemClock())
    carol = Bearer(stack.url, token)

    assert carol.call("GET", "/jobs").status == 401


def test_smoke_does_the_whole_job_with_a_token_and_never_shows_it(
    stack: Stack,
    tokens: DynamoDBAccess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    token, _ = issue_token("smoke", tokens, SystemClock())
    monkeypatch.setattr(smoke, "OUT", tmp_path)
    monkeypatch.setenv("THUMBLINE_TOKEN", token)

    assert smoke.main([stack.url, str(SAMPLE)]) == 0

    said = capsys.readouterr()
    assert "demo: 1 accepted, 1 succeeded, 0 failed" in said.out
    assert token not in said.out + said.err
