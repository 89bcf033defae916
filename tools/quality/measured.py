"""One measurement in a process of its own, so that its peak memory is nobody else's.

`python -m tools.quality.measured METHOD < picture`: prints milliseconds of processor time and mebibytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from io import BytesIO

from PIL import Image

from thumbline.adapters.pillow.recipe import render
from thumbline.domain.presets import DEFAULT_PRESET, RenderLimits

LIMITS = RenderLimits(
    max_pixels=120_000_000,
    max_frames=1_000,
    max_scan_megapixels=2_000,
    cpu_seconds=60,
    memory_bytes=4 << 30,
    wall_seconds=60,
)


def by_recipe(data: bytes) -> bytes:
    return render(data, [DEFAULT_PRESET], LIMITS).thumbnails[0].data


def by_pillow(data: bytes) -> bytes:
    """`Image.thumbnail` as its documentation shows it."""
    image = Image.open(BytesIO(data))
    image.thumbnail((DEFAULT_PRESET.width, DEFAULT_PRESET.height))
    output = BytesIO()
    if image.mode in ("RGBA", "LA"):
        image.save(output, "WEBP", quality=DEFAULT_PRESET.quality)
    else:
        image.convert("RGB").save(output, "JPEG", quality=DEFAULT_PRESET.quality)
    return output.getvalue()


METHODS: dict[str, Callable[[bytes], bytes]] = {"recipe": by_recipe, "thumbnail": by_pillow}


def measure(method: str, data: bytes) -> tuple[float, float]:
    """Milliseconds of processor time, and mebibytes above what the process held before. Linux only."""
    run = subprocess.run(
        [sys.executable, "-m", "tools.quality.measured", method], input=data, capture_output=True, check=True
    )
    milliseconds, mebibytes = json.loads(run.stdout)
    return milliseconds, mebibytes


def _main(method: str) -> None:
    data = sys.stdin.buffer.read()
    make = METHODS[method]
    small = BytesIO()
    Image.new("RGB", (64, 64)).save(small, "JPEG")
    make(small.getvalue())
    before = _kibibytes("VmRSS")
    began = time.process_time()
    make(data)
    milliseconds = (time.process_time() - began) * 1_000
    print(json.dumps([milliseconds, (_kibibytes("VmHWM") - before) / 1024]))


def _kibibytes(figure: str) -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(f"{figure}:"))


if __name__ == "__main__":
    _main(sys.argv[1])
