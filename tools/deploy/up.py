"""`make deploy`: checks the account, deploys, and says how to call what is there now."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import boto3

from tools.deploy.account import caller_account, check_bootstrap, stack_name, stack_outputs
from tools.deploy.cdk import run_cdk
from tools.deploy.errors import DeployError

EMAIL_VARIABLE = "THUMBLINE_ALARM_EMAIL"
IDENTITY_VARIABLE = "THUMBLINE_IDENTITY"
IDENTITIES = ("iam", "token")
"""How a deployed stage may tell its callers apart."""
IDENTITY_OUTPUT = "Identity"


def deploy(
    stage: str,
    *,
    session: boto3.Session | None = None,
    cdk: Callable[[Sequence[str]], None] = run_cdk,
    say: Callable[[str], None] = print,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Raises DeployError."""
    stack = stack_name(stage)
    asked = asked_identity(environ)
    session = session or boto3.Session()
    account = caller_account(session)
    check_bootstrap(session, account)
    identity = next_identity(asked, stack, stack_outputs(session, stack), say)
    say(f"Deploying {stack} to account {account.number} in {account.region} as {account.caller}.")
    email = environ.get(EMAIL_VARIABLE, "")
    if not email:
        say("Nobody will be told of alarms: give ALARM_EMAIL=address at each deployment that should.")
    context = {"stage": stage, "identity": identity, "alarm-email": email}
    cdk(["deploy", stack, *(word for it in context.items() for word in ("--context", "=".join(it)))])
    outputs = stack_outputs(session, stack)
    if not outputs:
        raise DeployError(f"CDK has ended, but there is no stack {stack}: see its messages above.")
    say(how_to_call(outputs["ApiUrl"], outputs[IDENTITY_OUTPUT], stage, account.region))


def asked_identity(environ: Mapping[str, str]) -> str:
    """'' where none is asked for. Raises DeployError naming the choices."""
    asked = environ.get(IDENTITY_VARIABLE, "")
    if asked and asked not in IDENTITIES:
        choices = " or ".join(f"IDENTITY={one}" for one in IDENTITIES)
        raise DeployError(f"There is no identity {asked!r} to deploy with: choose {choices}.")
    return asked


def next_identity(
    asked: str, stack: str, deployed: Mapping[str, str] | None, say: Callable[[str], None]
) -> str:
    """What is asked for, else what is deployed, else '' for the stage's own: another kind would refuse every
    client at once. Raises DeployError where what is deployed does not tell.
    """
    if not deployed:  # there is no stack, or one whose first deployment failed
        return asked
    present = deployed.get(IDENTITY_OUTPUT)
    if present is None and not asked:
        raise DeployError(
            f"{stack} does not tell how its callers are told apart: say IDENTITY=iam or IDENTITY=token,"
            " whichever they use."
        )
    if present and asked and asked != present:
        say(
            f"The identity of {stack} changes from {present} to {asked}: its present callers will be refused."
        )
    return asked or present or ""


def how_to_call(url: str, identity: str, stage: str, region: str) -> str:
    if identity == "token":
        return f"""
API  {url}

  # a token for a client; it is shown once
  .venv/bin/thumbline --stage {stage} tokens create OWNER

  # a picture, with the token in the environment: 202 with a Location
  curl -i -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(date +%s)" \\
       -H "Content-Type: image/jpeg" --data-binary @samples/photo.jpg {url}/images

  # the whole job, with the same token
  TOKEN="$TOKEN" make smoke URL={url}"""
    return f"""
API  {url}

  # a picture, signed with the credentials in the environment: 202 with a Location
  curl -i --aws-sigv4 "aws:amz:{region}:execute-api" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \\
       -H "x-amz-security-token: $AWS_SESSION_TOKEN" -H "Idempotency-Key: $(date +%s)" \\
       -H "Content-Type: image/jpeg" --data-binary @samples/photo.jpg {url}/images

  # the whole job, with the same credentials
  make smoke URL={url}"""
