"""The account that the caller's credentials name, looked at before CDK starts: what is missing is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tools.deploy.errors import DeployError

STAGES = ("dev", "prod")
BOOTSTRAP_VERSION = 6
"""What the templates of this CDK ask for in their rule CheckBootstrapVersion."""
_BOOTSTRAP_PARAMETER = "/cdk-bootstrap/hnb659fds/version"
_MISSING = frozenset({"ParameterNotFound", "ValidationError"})


@dataclass(frozen=True, slots=True)
class Account:
    number: str
    region: str
    caller: str
    """The ARN that acts."""


def stack_name(stage: str) -> str:
    """Raises DeployError for what cannot be deployed to an account."""
    if stage not in STAGES:
        hint = " (the stage 'local' is what `make local` runs)" if stage == "local" else ""
        raise DeployError(f"There is no stage {stage!r} to deploy: choose STAGE=dev or STAGE=prod{hint}.")
    return f"Thumbline-{stage.capitalize()}"


def caller_account(session: boto3.Session) -> Account:
    """Raises DeployError when region or credentials are missing, refused or out of reach."""
    region = session.region_name
    if not region:
        raise DeployError("No AWS region is set: set AWS_REGION, for example AWS_REGION=eu-central-1.")
    try:
        if session.get_credentials() is None:
            raise DeployError("There are no AWS credentials: set AWS_PROFILE, or run `aws configure sso`.")
        identity = _client(session, "sts").get_caller_identity()
    except ClientError as error:
        raise DeployError(f"AWS refuses the credentials ({_code(error)}): sign in again.") from error
    except BotoCoreError as error:
        raise DeployError(f"AWS cannot be asked who you are: {error}") from error
    return Account(str(identity["Account"]), region, str(identity["Arn"]))


def check_bootstrap(session: boto3.Session, account: Account) -> None:
    """Raises DeployError unless CDK has prepared the account in this region, recently enough."""
    remedy = f"run `node_modules/.bin/cdk bootstrap aws://{account.number}/{account.region}` once"
    where = f"account {account.number} in {account.region}"
    try:
        answer = _client(session, "ssm").get_parameter(Name=_BOOTSTRAP_PARAMETER)
    except ClientError as error:
        if _code(error) in _MISSING:
            raise DeployError(f"The {where} is not prepared for CDK: {remedy}.") from error
        raise DeployError(
            f"{account.caller} may not read {_BOOTSTRAP_PARAMETER} ({_code(error)}), which tells whether the"
            f" {where} is prepared for CDK."
        ) from error
    except BotoCoreError as error:
        raise DeployError(f"The {where} cannot be asked for its preparation: {error}") from error
    version = int(answer["Parameter"]["Value"])
    if version < BOOTSTRAP_VERSION:
        raise DeployError(
            f"The {where} was prepared by an old CDK (version {version}, not {BOOTSTRAP_VERSION}): {remedy}."
        )


def stack_outputs(session: boto3.Session, stack: str) -> dict[str, str] | None:
    """A deployed stack's outputs; None where there is no such stack. Raises DeployError."""
    try:
        answer = _client(session, "cloudformation").describe_stacks(StackName=stack)
    except ClientError as error:
        if _code(error) in _MISSING:
            return None
        raise DeployError(f"The stack {stack} cannot be read ({_code(error)}).") from error
    except BotoCoreError as error:
        raise DeployError(f"The stack {stack} cannot be read: {error}") from error
    (found,) = answer["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in found.get("Outputs", [])}


def _client(session: boto3.Session, service: Any) -> Any:
    return session.client(service)


def _code(error: ClientError) -> str:
    return str(error.response["Error"]["Code"])
