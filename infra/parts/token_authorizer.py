"""token_authorizer: tells API Gateway whose a bearer token is. It reads tokens and nothing else."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from constructs import Construct

from infra.parts.function import FunctionFrame, PythonFunction, allow
from infra.parts.tables import Tables
from infra.topology import Topology
from thumbline.domain.access import TOKEN_PREFIX
from thumbline.settings import AuthorizerSettings


class TokenAuthorizer(PythonFunction):
    def __init__(
        self, scope: Construct, construct_id: str, *, frame: FunctionFrame, topology: Topology, tables: Tables
    ) -> None:
        read = allow(["dynamodb:GetItem"], tables.access.table_arn)
        read.add_condition("ForAllValues:StringLike", {"dynamodb:LeadingKeys": [f"{TOKEN_PREFIX}*"]})
        super().__init__(
            scope,
            construct_id,
            frame=frame,
            name="token_authorizer",
            environment=AuthorizerSettings(access_table=tables.access.table_name).to_env(),
            statements=[read],
            timeout_seconds=topology.authorizer_timeout_seconds,
            memory_mb=topology.function_memory_mb,
            wide_resources={},
            no_dead_letter_target="API Gateway calls it synchronously: a failed call refuses the client.",
        )
        self.authorizer = apigateway.TokenAuthorizer(
            self,
            "Authorizer",
            handler=self.function,
            results_cache_ttl=Duration.seconds(topology.authorizer_cache_seconds),
        )
