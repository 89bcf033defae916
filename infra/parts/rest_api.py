"""The regional REST API in front of ingest_api."""

from __future__ import annotations

import json

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.parts.acknowledged import acknowledge
from infra.parts.gateway_responses import API_STAGE, add_gateway_responses
from infra.settings import StageSettings

ROUTES = {
    "/images": ("POST",),
    "/images/{job_id}": ("DELETE",),
    "/images/{job_id}/{preset}": ("GET",),
    "/uploads": ("POST",),
    "/jobs": ("GET",),
    "/jobs/{job_id}": ("GET",),
    "/openapi.json": ("GET",),
    "/problems/{code}": ("GET",),
    "/{proxy+}": (),
}
"""Paths and the methods that our function knows. Every other method reaches it, too, for its 405."""

MAKING_WORK = ("/images/POST", "/uploads/POST")
"""Methods that may take half of the stage's throttle, so that a flood of work leaves room for answers."""

_AUTHORIZATION = {
    "iam": apigateway.AuthorizationType.IAM,
    "token": apigateway.AuthorizationType.CUSTOM,
    "local": apigateway.AuthorizationType.NONE,
}

_LOGGING_POLICY = (
    "Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"
)


class RestApi(Construct):
    """Every method is authorized as the stage says, except OPTIONS: preflights are never authorized.

    `authorizer` is that of a stage whose identity is `token`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: StageSettings,
        ingest: lambda_.IFunction,
        authorizer: apigateway.IAuthorizer | None,
    ) -> None:
        super().__init__(scope, construct_id)
        access_log = logs.LogGroup(
            self,
            "AccessLog",
            retention=settings.log_retention,
            removal_policy=RemovalPolicy.RETAIN if settings.retains_data else RemovalPolicy.DESTROY,
        )
        self.api = apigateway.RestApi(
            self,
            "Api",
            # CloudWatch names an API's metrics by this, so it must be no other stage's.
            rest_api_name=f"thumbline-{settings.name}",
            description="Thumbline: pictures in, thumbnails out",
            endpoint_configuration=apigateway.EndpointConfiguration(types=[apigateway.EndpointType.REGIONAL]),
            # Every body reaches the function byte for byte.
            binary_media_types=["*/*"],
            # One setting of the whole account and region; it stays, or other APIs would lose their logs.
            cloud_watch_role=True,
            cloud_watch_role_removal_policy=RemovalPolicy.RETAIN,
            deploy_options=apigateway.StageOptions(
                stage_name=API_STAGE,
                tracing_enabled=settings.traced,
                metrics_enabled=True,
                throttling_rate_limit=settings.api_rate_limit,
                throttling_burst_limit=settings.api_burst_limit,
                method_options=dict.fromkeys(MAKING_WORK, _half_of(settings)),
                access_log_destination=apigateway.LogGroupLogDestination(access_log),
                access_log_format=_access_log_format(),
            ),
            default_method_options=apigateway.MethodOptions(
                authorization_type=_AUTHORIZATION[settings.identity], authorizer=authorizer
            ),
        )
        # RestApi exports its own URL, with a slash at its end, under a generated name; the stack has ApiUrl.
        self.api.node.try_remove_child("Endpoint")
        self._integration = apigateway.LambdaIntegration(
            ingest,
            # One permission for the whole API instead of one for each method.
            scope_permission_to_method=False,
        )
        for path, methods in ROUTES.items():
            self._add_route(path, methods)
        self._add_catch_all(self.api.root)
        add_gateway_responses(self.api, settings.inline_limit_bytes)
        self._acknowledge()

    @property
    def url(self) -> str:
        stack = Stack.of(self)
        return f"https://{self.api.rest_api_id}.execute-api.{stack.region}.{stack.url_suffix}/{API_STAGE}"

    def _acknowledge(self) -> None:
        acknowledge(
            self.api,
            {
                "AwsSolutions::AwsSolutions-APIG2": "A body is a picture, which no JSON schema describes; the"
                " function checks key, type and size, and answers in problem documents.",
                "AwsSolutions::AwsSolutions-APIG3": "Every caller signs with IAM credentials of this account,"
                " and the stage is throttled; a web ACL of the account's own can be associated by the ARN.",
                "AwsSolutions::AwsSolutions-APIG6": "The access log has every request with its status and its"
                " error. Execution logs repeat that in a group that API Gateway makes itself: without"
                " retention, and left behind when the stack goes.",
                "AwsSolutions::AwsSolutions-COG4": "Callers are services with IAM identities, authorized by"
                " SigV4; there are no end users to keep in a pool.",
                f"AwsSolutions::AwsSolutions-IAM4[{_LOGGING_POLICY}]": "API Gateway's own advice for the one"
                " role with which it writes the logs of all APIs of an account and region.",
            },
        )

    def _add_route(self, path: str, methods: tuple[str, ...]) -> None:
        resource = self.api.root
        for part in path.strip("/").split("/"):
            existing = resource.get_resource(part)
            if existing is None:
                existing = resource.add_resource(part)
                self._add_catch_all(existing)
            resource = existing
        for method in methods:
            resource.add_method(method, self._integration)

    def _add_catch_all(self, resource: apigateway.IResource) -> None:
        """A resource of its own is excluded from `/{proxy+}`, and its missing methods would be a bare 403."""
        resource.add_method("ANY", self._integration)
        preflight = resource.add_method(
            "OPTIONS", self._integration, authorization_type=apigateway.AuthorizationType.NONE
        )
        acknowledge(
            preflight,
            {
                "AwsSolutions::AwsSolutions-APIG4": "A browser never signs a preflight, and its answer tells"
                " nothing but the allowed methods and headers."
            },
        )


def _half_of(settings: StageSettings) -> apigateway.MethodDeploymentOptions:
    return apigateway.MethodDeploymentOptions(
        throttling_rate_limit=settings.api_rate_limit // 2,
        throttling_burst_limit=settings.api_burst_limit // 2,
    )


def _access_log_format() -> apigateway.AccessLogFormat:
    """What happened to each request, its trouble included: execution logs would be a second, larger copy."""
    return apigateway.AccessLogFormat.custom(
        json.dumps(
            {
                "request_id": "$context.requestId",
                "time": "$context.requestTime",
                "ip": "$context.identity.sourceIp",
                "caller": "$context.identity.user",
                "method": "$context.httpMethod",
                "path": "$context.path",
                "protocol": "$context.protocol",
                "status": "$context.status",
                "response_bytes": "$context.responseLength",
                "latency_ms": "$context.responseLatency",
                "error": "$context.error.responseType",
                "error_message": "$context.error.message",
                "integration_status": "$context.integration.status",
                "integration_error": "$context.integration.error",
                "integration_latency_ms": "$context.integration.latency",
                "function_request_id": "$context.integration.requestId",
                "trace": "$context.xrayTraceId",
            }
        )
    )
