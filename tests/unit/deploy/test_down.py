"""`make destroy`: asks, and leaves nothing that costs money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.unit.deploy.fakes import FakeSession, refusal
from tools.deploy import __main__ as program
from tools.deploy.cdk import run_cdk
from tools.deploy.down import destroy, empty_bucket
from tools.deploy.errors import DeployError


class Run:
    def __init__(self, session: Any, answer: str = "Thumbline-Dev") -> None:
        self.session, self.answer = session, answer
        self.cdk: list[list[str]] = []
        self.said: list[str] = []

    def destroy(self, stage: str = "dev") -> None:
        destroy(
            stage,
            session=self.session,
            cdk=self._cdk,
            ask=lambda _question: self.answer,
            say=self.said.append,
        )

    def _cdk(self, arguments: Sequence[str]) -> None:
        self.cdk.append(list(arguments))


class EmptiedSession(FakeSession):
    """Its bucket is gone already."""

    def client(self, service: str) -> Any:
        client: Any = super().client(service)
        if service == "s3":
            client.get_paginator = lambda _operation: self

        return client

    def paginate(self, **_arguments: Any) -> Any:
        raise refusal("NoSuchBucket")


def test_the_stacks_name_confirms() -> None:
    run = Run(EmptiedSession())

    run.destroy()

    assert run.cdk == [["destroy", "Thumbline-Dev", "--force", "--context", "stage=dev"]]
    assert "with all its jobs and pictures" in run.said[0]
    assert "One role stays" in run.said[-1]


@pytest.mark.parametrize("answer", ["", "y", "yes", "thumbline-dev", "Thumbline-Prod"])
def test_any_other_answer_deletes_nothing(answer: str) -> None:
    run = Run(EmptiedSession(), answer)

    with pytest.raises(DeployError, match=r"^Nothing was deleted\.$"):
        run.destroy()
    assert run.cdk == []
    assert {operation for operation, _ in run.session.calls} == {"get_caller_identity", "describe_stacks"}


def test_prod_is_not_taken_away_by_one_word() -> None:
    run = Run(FakeSession(), "Thumbline-Prod")

    with pytest.raises(DeployError, match=r"^Thumbline-Prod is protected against deletion"):
        run.destroy("prod")
    assert run.cdk == []


def test_what_is_not_there_is_no_error() -> None:
    run = Run(FakeSession({"describe_stacks": refusal("ValidationError")}))

    run.destroy()

    assert run.said == [
        "There is no stack Thumbline-Dev in account 123456789012, eu-central-1: nothing to destroy."
    ]


@pytest.fixture
def session() -> Iterator[boto3.Session]:
    with mock_aws():
        yield boto3.Session(region_name="us-east-1")


def test_every_object_is_removed(session: boto3.Session) -> None:
    s3: Any = session.client("s3")
    s3.create_bucket(Bucket="bucket")
    for key in ("originals/a", "originals/b", "thumbnails/a/thumbnail.jpg"):
        s3.put_object(Bucket="bucket", Key=key, Body=b"")

    assert empty_bucket(session, "bucket") == 3
    assert "Contents" not in s3.list_objects_v2(Bucket="bucket")


def test_every_page_of_a_large_bucket_is_removed() -> None:
    session: Any = EmptiedSession({"delete_objects": {}})
    session.paginate = lambda **_: iter(
        [{"Contents": [{"Key": "a"}, {"Key": "b"}]}, {"Contents": [{"Key": "c"}]}]
    )

    assert empty_bucket(session, "bucket") == 3
    deleted = [
        arguments["Delete"]["Objects"] for name, arguments in session.calls if name == "delete_objects"
    ]
    assert deleted == [[{"Key": "a"}, {"Key": "b"}], [{"Key": "c"}]]


def test_a_bucket_that_is_gone_holds_nothing(session: boto3.Session) -> None:
    assert empty_bucket(session, "gone") == 0


def test_a_bucket_that_refuses_is_named() -> None:
    session: Any = EmptiedSession()
    session.paginate = lambda **_: iter([{"Contents": [{"Key": "originals/a"}]}])
    session.answers["delete_objects"] = {"Errors": [{"Key": "originals/a", "Code": "AccessDenied"}]}

    with pytest.raises(DeployError, match=r"^bucket/originals/a cannot be deleted \(AccessDenied\)\.$"):
        empty_bucket(session, "bucket")


def test_a_failing_cdk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.deploy.cdk.shutil.which", lambda _name: "/bin/false")

    with pytest.raises(DeployError, match="`cdk deploy` ended with status 1"):
        run_cdk(["deploy"])


def test_a_missing_cdk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.deploy.cdk.shutil.which", lambda _name: None)

    with pytest.raises(DeployError, match="run `make setup`"):
        run_cdk(["deploy"])


def test_ctrl_c_at_the_question_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_stage: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "destroy", interrupted)

    assert program.main(["down", "dev"]) == 130
    assert capsys.readouterr().err == "\nStopped.\n"
