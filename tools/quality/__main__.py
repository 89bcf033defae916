"""`python -m tools.quality`: prints the tables of `docs/images.md`. Takes a few minutes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from thumbline.adapters.pillow import recipe
from thumbline.domain.presets import DEFAULT_PRESET, OutputFormat, Preset
from tools.quality.likeness import linear_reference, shown, ssim
from tools.quality.measured import LIMITS, METHODS, measure
from tools.quality.subjects import Subject, subjects

_ROUNDS = 3
_GAPS = (1.0, 1.5, 2.0, 3.0)
_GAP_SUBJECTS = (0, 3)
"""The JPEG, which is shrunk while it is decoded, and the PNG, which is not."""
_QUALITIES: tuple[tuple[OutputFormat, tuple[int, ...]], ...] = (
    ("jpeg", (70, 75, 80, 85, 90)),
    ("webp", (70, 80, 90)),
    ("avif", (50, 60, 70, 80)),
)


def main() -> int:
    if sys.platform != "linux":
        print("Peak memory is read from /proc: run this on Linux.", file=sys.stderr)
        return 1
    pictures = subjects()
    _print_kinds(pictures)
    _print_gaps(pictures)
    _print_qualities(pictures[0])
    return 0


def _print_kinds(pictures: Sequence[Subject]) -> None:
    _row("kind", "likeness, resampling alone", "likeness, delivered", "CPU ms", "peak MiB")
    _row("---", "---", "---", "---", "---")
    for subject in pictures:
        lossless = replace(DEFAULT_PRESET, format="png")
        resampled = _likeness(subject, _rendered(subject, lossless))
        delivered = {name: _likeness(subject, make(subject.data)) for name, make in METHODS.items()}
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
        for _ in range(_ROUNDS):
            for name in METHODS:
                figures[name].append(measure(name, subject.data))
        _row(
            subject.kind,
            f"{resampled:.4f}",
            _pair(delivered.__getitem__, "{:.4f}"),
            _pair(lambda name: median(cpu for cpu, _ in figures[name]), "{:.0f}"),  # noqa: B023
            _pair(lambda name: median(peak for _, peak in figures[name]), "{:.0f}"),  # noqa: B023
        )
    print()


def _print_gaps(pictures: Sequence[Subject]) -> None:
    _row("reducing gap", *(pictures[index].kind for index in _GAP_SUBJECTS), "CPU ms")
    _row("---", "---", "---", "---")
    chosen = recipe.REDUCING_GAP
    lossless = replace(DEFAULT_PRESET, format="png")
    try:
        for gap in _GAPS:
            recipe.REDUCING_GAP = gap
            began = time.process_time()
            made = [_rendered(subject, lossless) for subject in (pictures[index] for index in _GAP_SUBJECTS)]
            spent = (time.process_time() - began) * 1_000
            likenesses = [
                _likeness(pictures[index], data) for index, data in zip(_GAP_SUBJECTS, made, strict=True)
            ]
            _row(f"{gap}", *(f"{value:.4f}" for value in likenesses), f"{spent:.0f}")
    finally:
        recipe.REDUCING_GAP = chosen
    print()


def _print_qualities(subject: Subject) -> None:
    _row("output", "likeness", "bytes", "CPU ms of the whole rendering")
    _row("---", "---", "---", "---")
    for output, qualities in _QUALITIES:
        for quality in qualities:
            began = time.process_time()
            data = _rendered(subject, replace(DEFAULT_PRESET, format=output, quality=quality))
            spent = (time.process_time() - began) * 1_000
            _row(f"{output} {quality}", f"{_likeness(subject, data):.4f}", f"{len(data):,}", f"{spent:.0f}")


def _rendered(subject: Subject, preset: Preset) -> bytes:
    return recipe.render(subject.data, [preset], LIMITS).thumbnails[0].data


def _likeness(subject: Subject, thumbnail: bytes) -> float:
    seen = shown(thumbnail)
    return ssim(seen, linear_reference(subject.truth, (seen.shape[1], seen.shape[0])))


def _pair(figure: Callable[[str], float], pattern: str) -> str:
    """Ours, and plain `Image.thumbnail` in brackets."""
    return f"{pattern.format(figure('recipe'))} ({pattern.format(figure('thumbnail'))})"


def _row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
