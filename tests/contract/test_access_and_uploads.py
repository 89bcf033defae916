"""Tokens, quotas, secrets, the owner index and uploads: the twins and the adapters behave alike."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass
from typing import Any

import pytest

from tests.aws_resources import create_access_table, create_bucket, create_tables
from tests.contract.conftest import BACKENDS, Clients, clients_of
from tests.world import World, new_job
from thumbline.adapters.aws.acceptance import DynamoDBAcceptance
from thumbline.adapters.aws.access import DynamoDBAccess
from thumbline.adapters.aws.owner_index import DynamoDBOwnerIndex
from thumbline.adapters.aws.uploads import S3Uploads
from thumbline.adapters.memory.access import MemoryAccess
from thumbline.adapters.memory.clock import ManualClock
from thumbline.adapters.memory.jobs import MemoryTables
from thumbline.adapters.memory.objects import MemoryObjects, StoredObject
from thumbline.adapters.memory.owner_index import MemoryOwnerIndex
from thumbline.adapters.memory.uploads import MemoryUploads
from thumbline.domain.idempotency import IdempotencyRecord
from thumbline.domain.uploads import Announcement
from thumbline.ports.jobs import AcceptanceStore
from thumbline.ports.listing import OwnerIndex
from thumbline.ports.uploads import UploadChangedError
from thumbline.service.issue_token import issue_token

PICTURE = bytes(range(256)) * 10
KEY, ORIGINAL = "uploads/owner/upl_1", "originals/img_1"
ANNOUNCED = Announcement(
    byte_length=len(PICTURE), sha256=hashlib.sha256(PICTURE).hexdigest(), content_type="image/png"
)


@dataclass
class Doors:
    access: Any
    uploads: Any
    index: OwnerIndex
    store: AcceptanceStore
    put: Any
    """Puts bytes under a key, as a form does."""
    read: Any


def _twins() -> Doors:
    tables, objects = MemoryTables(), MemoryObjects()

    def put(data: bytes) -> None:
        objects.objects[KEY] = StoredObject(data, "image/png")

    return Doors(
        MemoryAccess(),
        MemoryUploads(objects),
        MemoryOwnerIndex(tables),
        tables,
        put,
        lambda key: objects.objects[key].data,
    )


_names = itertools.count()


def _adapters(made: Clients) -> Doors:
    dynamodb, _, s3, _ = made
    name = f"doors-{next(_names)}"
    create_tables(dynamodb, f"jobs-{name}", f"idempotency-{name}")
    create_access_table(dynamodb, f"access-{name}")
    create_bucket(s3, name)

    def put(data: bytes) -> None:
        metadata = {"sha256": ANNOUNCED.sha256}
        s3.put_object(Bucket=name, Key=KEY, Body=data, ContentType="image/png", Metadata=metadata)

    return Doors(
        DynamoDBAccess(dynamodb, f"access-{name}"),
        S3Uploads(s3, name),
        DynamoDBOwnerIndex(dynamodb, f"jobs-{name}"),
        DynamoDBAcceptance(dynamodb, jobs_table=f"jobs-{name}", idempotency_table=f"idempotency-{name}"),
        put,
        lambda key: s3.get_object(Bucket=name, Key=key)["Body"].read(),
    )


@pytest.fixture(params=BACKENDS)
def doors(request: pytest.FixtureRequest) -> Doors:
    return _twins() if request.param == "twins" else _adapters(clients_of(request.param, request))


def test_tokens_are_found_listed_and_revoked_once(doors: Doors) -> None:
    clock = ManualClock()
    _, first = issue_token("acme", doors.access, clock)
    clock.advance(1)
    _, second = issue_token("other", doors.access, clock)
    doors.access.count("acme", 1, 20)

    assert doors.access.find_token(first.token_id) == first
    assert doors.access.find_token("0" * 16) is None
    assert doors.access.tokens() == [first, second]
    assert doors.access.revoke_token(first.token_id, 7)
    assert doors.access.revoke_token(first.token_id, 8)
    assert doors.access.find_token(first.token_id).revoked_at == 7
    assert not doors.access.revoke_token("0" * 16, 9)
    assert doors.access.tokens()[1] == second


def test_requests_are_counted_by_owner_and_window(doors: Doors) -> None:
    count = doors.access.count
    assert [count("a", 1, 20), count("a", 1, 20), count("b", 1, 20), count("a", 2, 30)] == [1, 2, 1, 1]


def test_a_secret_is_made_once(doors: Doors) -> None:
    secret = doors.access.secret("cursors")
    assert len(secret) == 32
    assert doors.access.secret("cursors") == secret
    assert doors.access.secret("others") != secret


def test_an_owners_jobs_come_newest_first(doors: Doors) -> None:
    world = World()
    jobs = []
    for number in range(5):
        world.clock.advance(1)
        job = new_job(world, owner="bob" if number == 2 else "alice")
        doors.store.accept(job, IdempotencyRecord(f"r{number}", "print", job.job_id, 2_000_000_000))
        jobs.append(job)
    alices = [job.job_id for job in reversed(jobs) if job.owner == "alice"]

    newest = doors.index.newest("alice", before=None, limit=3)
    assert [job.job_id for job in newest] == alices[:3]
    assert newest[0].created_at == jobs[-1].created_at
    assert newest[0].is_open
    older = doors.index.newest("alice", before=alices[2], limit=3)
    assert [job.job_id for job in older] == alices[3:]
    assert doors.index.newest("nobody", before=None, limit=3) == []


def test_an_upload_is_described_and_copied_once(doors: Doors) -> None:
    doors.uploads.sign_form(KEY, ANNOUNCED, 900)
    assert doors.uploads.find_upload(KEY) is None
    doors.put(PICTURE)
    found = doors.uploads.find_upload(KEY)

    assert (found.byte_length, found.sha256) == (len(PICTURE), ANNOUNCED.sha256)
    assert (found.content_type, found.announced_sha256) == ("image/png", ANNOUNCED.sha256)
    assert found.signature == PICTURE[:1024]
    doors.uploads.copy_upload(KEY, found.version, ORIGINAL)
    doors.uploads.copy_upload(KEY, found.version, ORIGINAL)
    assert doors.read(ORIGINAL) == PICTURE


def test_a_copy_of_another_version_is_refused() -> None:
    """On the twin alone: moto ignores the conditions of a copy."""
    doors = _twins()
    doors.uploads.sign_form(KEY, ANNOUNCED, 900)
    doors.put(PICTURE)
    version = doors.uploads.find_upload(KEY).version
    doors.put(PICTURE[::-1])

    with pytest.raises(UploadChangedError):
        doors.uploads.copy_upload(KEY, version, ORIGINAL)
    with pytest.raises(UploadChangedError):
        doors.uploads.copy_upload("uploads/owner/none", version, ORIGINAL)
    with pytest.raises(KeyError):
        doors.read(ORIGINAL)
