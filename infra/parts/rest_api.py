"""The regional REST API in front of ingest_api."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.parts.gateway_responses import API_STAGE, add_gateway_responses
from infra.settings import StageSettings

ROUTES = {
    "/images": ("POST",),
    "/images/{id}/{preset}": ("GET",),
    "/jobs/{id}": ("GET",),
    "/{proxy+}": (),
}
"""Paths and the methods that our function knows. Every other method reaches it, too, for its 405."""


class RestApi(Construct):
    """Every method is authorized as the stage says, except OPTIONS: preflights are never signed."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: StageSettings, ingest: lambda_.IFunction
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
                access_log_destination=apigateway.LogGroupLogDestination(access_log),
                access_log_format=_access_log_format(),
            ),
            default_method_options=apigateway.MethodOptions(
                authorization_type=apigateway.AuthorizationType[
                    "IAM" if settings.authorization == "AWS_IAM" else "NONE"
                ]
            ),
        )
        # RestApi exports its own URL, with a slash at its end, under a generated name; the stack has ApiUrl.
        self.api.node.try_remove_child("Endpoint")
        self._integration = apigateway.LambdaIntegration(
            ingest,
            # One permission for the whole API instead of one for each method.
            scope_permission_to_method=False,
            allow_test_invoke=False,
        )
        for path, methods in ROUTES.items():
            self._add_route(path, methods)
        self._add_catch_all(self.api.root)
        add_gateway_responses(self.api, settings.inline_limit_bytes)

    @property
    def url(self) -> str:
        stack = Stack.of(self)
        return f"https://{self.api.rest_api_id}.execute-api.{stack.region}.{stack.url_suffix}/{API_STAGE}"

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
        resource.add_method(
            "OPTIONS", self._integration, authorization_type=apigateway.AuthorizationType.NONE
        )


def _access_log_format() -> apigateway.AccessLogFormat:
    return apigateway.AccessLogFormat.json_with_standard_fields(
        caller=True, http_method=True, ip=True, protocol=True, request_time=True,
        resource_path=True, response_length=True, status=True, user=True,
    )  # fmt: skip
