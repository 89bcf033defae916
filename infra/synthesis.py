"""From the source tree to a cloud assembly: prepares the assets, builds the stack. Makes no call to AWS."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from aws_cdk import App

from infra.assets import FUNCTION_NAMES, Assets, stage_core, stage_function
from infra.errors import InfraError
from infra.layers import Platform, bundle_layer
from infra.settings import StageSettings, stage_settings, with_identity
from infra.stack import ThumblineStack

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_STAGE = "dev"


def main() -> int:
    """Synthesizes the stage that the context value `stage` names, with alarms going to `alarm-email` and the
    kind of identity that `identity` names (iam or token) where it is not to be the stage's own.

    A failure is one sentence and status 1.
    """
    # CDK's own template checks cost a third of every synthesis; the tests run them, strictly, on every stage.
    app = App(analytics_reporting=False, builtin_cloud_formation_validation=False)
    try:
        settings = _settings(app)
        # CDK copies each asset while the stack is built, so the staged ones need not outlive synthesis.
        with tempfile.TemporaryDirectory(prefix="thumbline-assets-") as staging:
            ThumblineStack(app, settings=settings, assets=prepare_assets(ROOT, settings, Path(staging)))
            app.synth()
    except InfraError as error:
        print(f"thumbline: {error}", file=sys.stderr)
        return 1
    return 0


def _settings(app: App) -> StageSettings:
    settings = stage_settings(str(app.node.try_get_context("stage") or DEFAULT_STAGE))
    if identity := app.node.try_get_context("identity"):
        settings = with_identity(settings, str(identity))
    return replace(settings, alarm_email=app.node.try_get_context("alarm-email") or None)


def prepare_assets(root: Path, settings: StageSettings, staging: Path) -> Assets:
    """Stages our code and bundles the third-party layers. Raises AssetError or BundleError."""
    target = Platform.of_stage(settings)
    assets = Assets(
        functions={name: stage_function(root, name, staging) for name in FUNCTION_NAMES},
        core=stage_core(root, staging),
        runtime=bundle_layer(root / "layers" / "runtime" / "requirements.txt", target),
        imaging=bundle_layer(root / "layers" / "imaging" / "requirements.txt", target),
    )
    assets.check_sizes()
    return assets
