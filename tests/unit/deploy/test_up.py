"""`make deploy`: what is missing is said in one sentence before CDK starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError

from tests.unit.deploy.fakes import FakeSession, refusal
from tools.deploy import __main__ as program
from tools.deploy.errors import DeployError
from tools.deploy.up import deploy

TIMED_OUT = ConnectTimeoutError(endpoint_url="https://sts.example")


class Run:
    """One deployment with everything replaced that would leave this process."""

    def __init__(self, session: FakeSession, environ: dict[str, str] | None = None) -> None:
        self.session, self.environ = session, environ or {}
        self.cdk: list[list[str]] = []
        self.said: list[str] = []

    def deploy(self, stage: str = "dev") -> None:
        session: Any = self.session
        deploy(stage, session=session, cdk=self._cdk, say=self.said.append, environ=self.environ)

    def _cdk(self, arguments: Sequence[str]) -> None:
        self.cdk.append(list(arguments))


def test_a_deployment_ends_with_the_url_and_a_signed_curl_line() -> None:
    run = Run(FakeSession(), {"THUMBLINE_ALARM_EMAIL": "ops@example.com"})

    run.deploy()

    assert run.cdk == [
        [
            *("deploy", "Thumbline-Dev", "--context", "stage=dev", "--context", "identity=iam"),
            *("--context", "alarm-email=ops@example.com"),
        ]
    ]
    assert run.said[0] == (
        "Deploying Thumbline-Dev to account 123456789012 in eu-central-1"
        " as arn:aws:iam::123456789012:user/ada."
    )
    assert '--aws-sigv4 "aws:amz:eu-central-1:execute-api"' in run.said[-1]
    assert "https://api.example/v1/images" in run.said[-1]
    assert "make smoke URL=https://api.example/v1" in run.said[-1]


def test_without_an_address_it_says_that_nobody_is_told() -> None:
    run = Run(FakeSession())

    run.deploy()

    assert any(line.startswith("Nobody will be told of alarms") for line in run.said)
    assert run.cdk[0][-1] == "alarm-email="


NO_STACK = refusal("ValidationError")
FAILED_FIRST: dict[str, Any] = {"Stacks": [{}]}
OLDER: dict[str, Any] = {
    "Stacks": [{"Outputs": [{"OutputKey": "ApiUrl", "OutputValue": "https://api.example/v1"}]}]
}


@pytest.mark.parametrize(
    ("deployed", "asked", "used"),
    [
        ("token", "", "token"),
        ("iam", "", "iam"),
        ("token", "token", "token"),
        ("token", "iam", "iam"),
        ("iam", "token", "token"),
    ],
)
def test_the_deployed_identity_is_kept_unless_another_is_asked_for(
    deployed: str, asked: str, used: str
) -> None:
    run = Run(FakeSession(identity=deployed), {"THUMBLINE_IDENTITY": asked})

    run.deploy()

    assert f"identity={used}" in run.cdk[0]
    warned = [line for line in run.said if "its present callers will be refused" in line]
    assert len(warned) == (deployed != used)


@pytest.mark.parametrize("answer", [NO_STACK, FAILED_FIRST], ids=["no stack", "a first try that failed"])
@pytest.mark.parametrize("asked", ["", "token"])
def test_a_first_deployment_has_the_identity_that_is_asked_for_or_the_stages_own(
    answer: Any, asked: str
) -> None:
    run = Run(FakeSession({"describe_stacks": answer}), {"THUMBLINE_IDENTITY": asked})

    with pytest.raises(DeployError, match="CDK has ended, but there is no stack"):
        run.deploy()

    assert f"identity={asked}" in run.cdk[0]


def test_a_stack_that_does_not_tell_its_identity_is_not_changed_unasked() -> None:
    run = Run(FakeSession({"describe_stacks": OLDER}))

    with pytest.raises(
        DeployError, match=r"^Thumbline-Dev does not tell .*: say IDENTITY=iam or IDENTITY=token"
    ):
        run.deploy()
    assert run.cdk == []


def test_an_unknown_identity_is_named_before_anything_is_asked() -> None:
    run = Run(FakeSession(), {"THUMBLINE_IDENTITY": "local"})

    with pytest.raises(
        DeployError, match=r"^There is no identity 'local' to deploy with: choose IDENTITY=iam or"
    ):
        run.deploy()
    assert run.session.calls == []


def test_a_stage_with_tokens_says_how_to_get_and_to_send_one() -> None:
    run = Run(FakeSession(identity="token"))

    run.deploy()

    assert "thumbline --stage dev tokens create OWNER" in run.said[-1]
    assert '"Authorization: Bearer $TOKEN"' in run.said[-1]
    assert "make smoke URL=https://api.example/v1" in run.said[-1]
    assert "--aws-sigv4" not in run.said[-1]


@pytest.mark.parametrize(
    ("stage", "session", "sentence"),
    [
        (
            "local",
            FakeSession(),
            "There is no stage 'local' to deploy: choose STAGE=dev or STAGE=prod (the stage",
        ),
        ("staging", FakeSession(), "There is no stage 'staging' to deploy: choose STAGE=dev or STAGE=prod."),
        ("dev", FakeSession(region_name=None), "No AWS region is set: set AWS_REGION, for example"),
        ("dev", FakeSession(credentials=None), "There are no AWS credentials: set AWS_PROFILE"),
        (
            "dev",
            FakeSession({"get_caller_identity": refusal("ExpiredToken")}),
            "AWS refuses the credentials (ExpiredToken): sign in again.",
        ),
        ("dev", FakeSession({"get_caller_identity": TIMED_OUT}), "AWS cannot be asked who you are: Connect"),
        (
            "dev",
            FakeSession({"get_parameter": refusal("ParameterNotFound")}),
            "The account 123456789012 in eu-central-1 is not prepared for CDK: run"
            " `node_modules/.bin/cdk bootstrap aws://123456789012/eu-central-1` once.",
        ),
        (
            "dev",
            FakeSession({"get_parameter": refusal("AccessDeniedException")}),
            "arn:aws:iam::123456789012:user/ada may not read /cdk-bootstrap/hnb659fds/version",
        ),
        ("dev", FakeSession({"get_parameter": TIMED_OUT}), "The account 123456789012 in eu-central-1 cannot"),
        (
            "dev",
            FakeSession({"get_parameter": {"Parameter": {"Value": "5"}}}),
            "The account 123456789012 in eu-central-1 was prepared by an old CDK (version 5, not 6): run",
        ),
    ],
)
def test_what_is_missing_is_said_and_cdk_not_started(stage: str, session: FakeSession, sentence: str) -> None:
    run = Run(session)

    with pytest.raises(DeployError) as caught:
        run.deploy(stage)

    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    assert run.cdk == []


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (refusal("ValidationError"), "CDK has ended, but there is no stack Thumbline-Dev"),
        (refusal("AccessDenied"), r"The stack Thumbline-Dev cannot be read \(AccessDenied\)\."),
        (TIMED_OUT, "The stack Thumbline-Dev cannot be read: Connect"),
    ],
)
def test_a_stack_that_cannot_be_read_afterwards_is_no_success(answer: Exception, sentence: str) -> None:
    with pytest.raises(DeployError, match=sentence):
        Run(FakeSession({"describe_stacks": answer})).deploy()


def test_the_program_prints_the_sentence_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["up", "staging"]) == 1

    assert capsys.readouterr().err == (
        "There is no stage 'staging' to deploy: choose STAGE=dev or STAGE=prod.\n"
    )
