"""The Lambda layers: ours for every function, and the pinned third-party ones."""

from __future__ import annotations

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.assets import Asset, Assets
from infra.parts.function import lambda_architecture, lambda_code, lambda_runtime
from infra.settings import StageSettings


class Layers(Construct):
    """`common` serves all functions; `imaging` is for the one that decodes pictures."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: StageSettings, assets: Assets
    ) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        self.common = (
            self._layer("Core", assets.core, "thumbline: the rules and adapters"),
            self._layer("Runtime", assets.runtime, "pinned third-party packages of every function"),
        )
        self.imaging = self._layer("Imaging", assets.imaging, "pinned image codecs, for the worker alone")

    def _layer(self, construct_id: str, asset: Asset, description: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            construct_id,
            code=lambda_code(asset),
            description=description,
            compatible_runtimes=[lambda_runtime()],
            compatible_architectures=[lambda_architecture(self._settings)],
        )
