"""Renders damaged pictures in the limited child and judges every outcome."""

from __future__ import annotations

import hashlib
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from thumbline.adapters.pillow.subprocess_renderer import SubprocessRenderer
from thumbline.domain.errors import PermanentError, TransientError
from thumbline.domain.presets import DEFAULT_PRESET, RenderLimits
from tools.fuzz_images.mutations import mutated

MAX_SEED_BYTES = 200_000
"""Larger seeds spend the time on decoding, not on new damage."""


@dataclass(slots=True)
class FuzzReport:
    """`findings`: one sentence for each picture that did what no picture may do; its bytes are kept."""

    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    slowest_seconds: float = 0.0
    peak_child_mebibytes: int = 0

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.outcomes.most_common())
        return (
            f"fuzz: {self.outcomes.total()} pictures ({counts}); slowest {self.slowest_seconds:.1f} s, "
            f"child at most {self.peak_child_mebibytes} MiB, {len(self.findings)} findings"
        )


def read_seeds(folder: Path) -> list[bytes]:
    """The pictures of a folder that are small enough. Raises OSError, or ValueError where there is none."""
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.suffix not in (".json", ".md")
    )
    seeds = [data for path in files if 0 < len(data := path.read_bytes()) <= MAX_SEED_BYTES]
    if not seeds:
        raise ValueError(f"{folder} holds no picture of at most {MAX_SEED_BYTES:,} bytes")
    return seeds


def fuzz(
    seeds: Sequence[bytes],
    *,
    count: int,
    seed: int,
    limits: RenderLimits,
    keep: Callable[[str, bytes], None],
    progress: Callable[[int], None] = lambda _done: None,
) -> FuzzReport:
    """`keep` stores a picture that is a finding under a name. The same seed makes the same pictures."""
    chance = Random(seed)
    report = FuzzReport()
    with SubprocessRenderer(limits) as renderer:
        for done in range(1, count + 1):
            picture = mutated(seeds, chance)
            finding = _judge(renderer, picture, limits, report)
            if finding is not None:
                name = f"{hashlib.sha256(picture).hexdigest()[:16]}.bin"
                report.findings.append(f"{name}: {finding}")
                keep(name, picture)
            progress(done)
    # In kibibytes on Linux; of the largest child that has ended.
    report.peak_child_mebibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    return report


def _judge(
    renderer: SubprocessRenderer, picture: bytes, limits: RenderLimits, report: FuzzReport
) -> str | None:
    """Counts the outcome. Returns what is wrong with it, if anything is."""
    began = time.monotonic()
    finding: str | None = None
    try:
        rendering = renderer.render(picture, [DEFAULT_PRESET], wall_seconds=limits.wall_seconds)
    except PermanentError as refusal:
        report.outcomes[refusal.code] += 1
    except TransientError as error:
        report.outcomes[error.code] += 1
        finding = "\n".join((f"{error.code}: {error.detail}", *getattr(error, "__notes__", ())))
    else:
        report.outcomes["succeeded"] += 1
        box = (DEFAULT_PRESET.width, DEFAULT_PRESET.height)
        thumbnail = rendering.thumbnails[0]
        if thumbnail.width > box[0] or thumbnail.height > box[1]:
            finding = f"the thumbnail of {thumbnail.width} x {thumbnail.height} does not fit its box"
    report.slowest_seconds = max(report.slowest_seconds, time.monotonic() - began)
    return finding
