"""`make deploy`: checks the account, deploys, and says how to call what is there now."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import boto3

from tools.deploy.account import caller_account, check_bootstrap, stack_name, stack_outputs
from tools.deploy.cdk import run_cdk
from tools.deploy.errors import DeployError

EMAIL_VARIABLE = "THUMBLINE_ALARM_EMAIL"


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
    session = session or boto3.Session()
    account = caller_account(session)
    check_bootstrap(session, account)
    say(f"Deploying {stack} to account {account.number} in {account.region} as {account.caller}.")
    email = environ.get(EMAIL_VARIABLE, "")
    if not email:
        say("Nobody will be told of alarms: give ALARM_EMAIL=address at each deployment that should.")
    cdk(["deploy", stack, "--context", f"stage={stage}", "--context", f"alarm-email={email}"])
    outputs = stack_outputs(session, stack)
    if outputs is None:
        raise DeployError(f"CDK has ended, but there is no stack {stack}: see its messages above.")
    say(how_to_call(outputs["ApiUrl"], account.region))


def how_to_call(url: str, region: str) -> str:
    return f"""
API  {url}

  # a picture, signed with the credentials in the environment: 202 with a Location
  curl -i --aws-sigv4 "aws:amz:{region}:execute-api" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \\
       -H "x-amz-security-token: $AWS_SESSION_TOKEN" -H "Idempotency-Key: $(date +%s)" \\
       -H "Content-Type: image/jpeg" --data-binary @samples/photo.jpg {url}/images

  # the whole job, with the same credentials
  make smoke URL={url}"""
