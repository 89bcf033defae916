"""The CDK app: `cdk synth --context stage=dev|prod|local [--context identity=iam|token]
[--context alarm-email=ADDRESS]`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "core" / "python")]

from infra.synthesis import main  # noqa: E402 - needs the path above

if __name__ == "__main__":
    sys.exit(main())
