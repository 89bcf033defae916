"""The CDK command line, on the caller's terminal and with the caller's environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.deploy.errors import DeployError

ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"


def run_cdk(arguments: Sequence[str], *, environ: Mapping[str, str] = os.environ) -> None:
    """Raises DeployError when it cannot start or fails; what it has to say it has said itself."""
    node = shutil.which("node")
    if node is None or not _PROGRAM.exists():
        raise DeployError("The CDK command line is not installed: run `make setup`.")
    finished = subprocess.run(
        [node, str(_PROGRAM), *arguments],
        cwd=ROOT,
        env={**environ, "CDK_DISABLE_VERSION_CHECK": "1"},
        check=False,
    )
    if finished.returncode != 0:
        raise DeployError(
            f"`cdk {arguments[0]}` ended with status {finished.returncode}; its reason is above."
        )
