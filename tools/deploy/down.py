"""`make destroy`: asks, empties what CloudFormation would not delete, and deletes the stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tools.deploy.account import caller_account, stack_name, stack_outputs
from tools.deploy.cdk import run_cdk
from tools.deploy.errors import DeployError

_LOGGING_ROLE_NOTE = (
    "One role stays: the one with which API Gateway writes the logs of all APIs of this account and region."
    " It costs nothing."
)


def destroy(
    stage: str,
    *,
    session: boto3.Session | None = None,
    cdk: Callable[[Sequence[str]], None] = run_cdk,
    ask: Callable[[str], str] = input,
    say: Callable[[str], None] = print,
) -> None:
    """Raises DeployError, also when the answer is not the stack's name."""
    stack = stack_name(stage)
    session = session or boto3.Session()
    account = caller_account(session)
    outputs = stack_outputs(session, stack)
    if outputs is None:
        say(f"There is no stack {stack} in account {account.number}, {account.region}: nothing to destroy.")
        return
    if stage == "prod":
        raise DeployError(
            f"{stack} is protected against deletion and would leave its data: docs/decisions/0015 says how to"
            " take it away on purpose."
        )
    say(
        f"This deletes {stack} in account {account.number}, {account.region}, with all its jobs and pictures."
    )
    if ask(f"Type {stack} to go on: ").strip() != stack:
        raise DeployError("Nothing was deleted.")
    removed = empty_bucket(session, outputs["BucketName"])
    say(f"Removed {removed} objects.")
    cdk(["destroy", stack, "--force", "--context", f"stage={stage}"])
    say(_LOGGING_ROLE_NOTE)


def empty_bucket(session: boto3.Session, bucket: str) -> int:
    """How many objects there were. Raises DeployError."""
    s3: Any = session.client("s3")
    removed = 0
    try:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            keys = [{"Key": found["Key"]} for found in page.get("Contents", [])]
            if not keys:
                continue
            answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
            if refused := answer.get("Errors"):
                raise DeployError(f"{bucket}/{refused[0]['Key']} cannot be deleted ({refused[0]['Code']}).")
            removed += len(keys)
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchBucket":
            return 0  # an earlier attempt came this far
        raise DeployError(f"The bucket {bucket} cannot be emptied: {error}") from error
    except BotoCoreError as error:
        raise DeployError(f"The bucket {bucket} cannot be emptied: {error}") from error
    return removed
