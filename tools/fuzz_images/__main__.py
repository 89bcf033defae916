"""`python -m tools.fuzz_images`: damages pictures by a seed and renders them; findings go to `out/fuzz`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from thumbline.domain.presets import RenderLimits
from tools.fuzz_images.run import fuzz, read_seeds
from tools.local.paths import PROJECT_ROOT

SEEDS = PROJECT_ROOT / "tests" / "data" / "images"
KEPT = Path("out") / "fuzz"
LIMITS = RenderLimits(
    max_pixels=120_000_000,
    max_frames=1_000,
    max_scan_megapixels=2_000,
    cpu_seconds=10,
    memory_bytes=1_000_000_000,
    wall_seconds=60,
)
_PROGRESS_STEP = 500


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz_images", description=__doc__)
    parser.add_argument("--count", type=int, default=5_000, help="how many damaged pictures")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="repeats a run")
    parser.add_argument("--folder", type=Path, default=SEEDS, help="the pictures to damage")
    chosen = parser.parse_args(arguments)
    print(f"fuzz: seed {chosen.seed}", flush=True)
    try:
        seeds = read_seeds(chosen.folder)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    report = fuzz(
        seeds, count=chosen.count, seed=chosen.seed, limits=LIMITS, keep=_keep, progress=_show_progress
    )
    for finding in report.findings:
        print(finding)
    print(report)
    return 1 if report.findings else 0


def _keep(name: str, picture: bytes) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / name).write_bytes(picture)


def _show_progress(done: int) -> None:
    if done % _PROGRESS_STEP == 0:
        print(f"  {done} pictures", flush=True)


if __name__ == "__main__":
    sys.exit(main())
