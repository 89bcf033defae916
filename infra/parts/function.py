"""What all four functions have in common: code, runtime, own log group, and a role written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.assets import Asset
from infra.parts.acknowledged import acknowledge
from infra.settings import RUNTIME_PYTHON, StageSettings

ANY_RESOURCE = "AwsSolutions::AwsSolutions-IAM5[Resource::*]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFrame:
    """What a stage gives every function, so that each one's file says only what is its own."""

    settings: StageSettings
    code: Mapping[str, Asset]
    common_layers: Sequence[lambda_.ILayerVersion]


class PythonFunction(Construct):
    """One function; its role allows `statements`, its own log group, and tracing where the stage traces."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        frame: FunctionFrame,
        name: str,
        environment: Mapping[str, str],
        statements: Sequence[iam.PolicyStatement],
        timeout_seconds: int,
        memory_mb: int,
        extra_layers: Sequence[lambda_.ILayerVersion] = (),
        reserved_concurrency: int | None = None,
        wide_resources: Mapping[str, str],
        no_dead_letter_target: str,
    ) -> None:
        """`wide_resources`: the findings about resources of `statements` that end in a wildcard, and why they
        do. `no_dead_letter_target`: why the function itself needs none."""
        super().__init__(scope, construct_id)
        settings = frame.settings
        log_group = logs.LogGroup(
            self,
            "Logs",
            retention=settings.log_retention,
            removal_policy=RemovalPolicy.RETAIN if settings.retains_data else RemovalPolicy.DESTROY,
        )
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={
                "operations": iam.PolicyDocument(
                    statements=[*_platform_statements(log_group, traced=settings.traced), *statements]
                )
            },
        )
        self.function = lambda_.Function(
            self,
            "Function",
            handler=f"functions.{name}.handler.lambda_handler",
            code=lambda_code(frame.code[name]),
            layers=[*frame.common_layers, *extra_layers],
            runtime=lambda_runtime(),
            architecture=lambda_architecture(settings),
            environment=dict(environment),
            timeout=Duration.seconds(timeout_seconds),
            memory_size=memory_mb,
            reserved_concurrent_executions=reserved_concurrency,
            log_group=log_group,
            tracing=lambda_.Tracing.ACTIVE if settings.traced else lambda_.Tracing.DISABLED,
            # Nothing that CDK would grant by itself gets in: the statements above are the whole truth.
            role=role.without_policy_updates(),
        )
        self._acknowledge(role, wide_resources, no_dead_letter_target, traced=settings.traced)

    def _acknowledge(
        self, role: iam.Role, wide_resources: Mapping[str, str], no_dead_letter_target: str, *, traced: bool
    ) -> None:
        accepted = dict(wide_resources)
        if traced:
            accepted.setdefault(ANY_RESOURCE, "X-Ray's two actions cannot be restricted to a resource.")
        acknowledge(role, accepted)
        if accepted:
            reason = "Every wildcard of this role is accepted by name, with its reason, as an IAM5 finding."
            acknowledge(role, {"Serverless::Serverless-LambdaStarPermissions": reason})
        newest = (
            "Python 3.13 has security support until October 2029. A newer runtime follows when every locked"
            " wheel exists for it and the tests run on it: the layers must fit the interpreter."
        )
        acknowledge(
            self.function,
            {
                "AwsSolutions::AwsSolutions-L1": newest,
                "Serverless::Serverless-LambdaLatestVersion": newest,
                "Serverless::Serverless-LambdaDLQ": no_dead_letter_target,
            },
        )


def _platform_statements(log_group: logs.LogGroup, *, traced: bool) -> list[iam.PolicyStatement]:
    statements = [allow(["logs:CreateLogStream", "logs:PutLogEvents"], log_group.log_group_arn)]
    if traced:
        # X-Ray has no resources to name.
        statements.append(allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*"))
    return statements


def allow(actions: Sequence[str], *resources: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(resources))


def lambda_code(asset: Asset) -> lambda_.Code:
    return lambda_.Code.from_asset(str(asset.path), asset_hash=asset.custom_hash)


def lambda_runtime() -> lambda_.Runtime:
    return lambda_.Runtime(f"python{RUNTIME_PYTHON}", lambda_.RuntimeFamily.PYTHON)


def lambda_architecture(settings: StageSettings) -> lambda_.Architecture:
    return lambda_.Architecture.ARM_64 if settings.architecture == "arm64" else lambda_.Architecture.X86_64
