"""Damaged pictures in the limited child: refused or rendered, never a fall. The seed is new in every run."""

from __future__ import annotations

import time
from random import Random

import pytest

from tests.unit.render.pictures import IMAGES
from thumbline.domain.errors import FailureCode, TransientError
from thumbline.domain.presets import RenderLimits
from tools.fuzz_images.__main__ import LIMITS
from tools.fuzz_images.mutations import MUTATIONS, mutated
from tools.fuzz_images.run import fuzz, read_seeds


def test_five_hundred_damaged_pictures_end_with_a_thumbnail_or_a_code() -> None:
    seed = time.time_ns()
    print(f"seed {seed}: repeat with make fuzz-images COUNT=500 SEED={seed}")
    report = fuzz(read_seeds(IMAGES), count=500, seed=seed, limits=LIMITS, keep=lambda _name, _picture: None)
    assert report.findings == []
    assert report.outcomes.total() == 500
    assert report.outcomes["succeeded"] > 0
    assert set(report.outcomes) <= {"succeeded", *FailureCode}
    assert report.peak_child_mebibytes < LIMITS.memory_bytes >> 20


def test_a_seed_repeats_a_run() -> None:
    seeds = [b"one picture" * 50, b"another" * 90]
    first = [mutated(seeds, Random(7)) for _ in range(3)]
    assert first == [mutated(seeds, Random(7)) for _ in range(3)]
    assert mutated(seeds, Random(8)) != first[0]


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_every_mutation_changes_a_file(mutation: object) -> None:
    assert callable(mutation)
    changed = 0
    for seed in range(20):
        data = bytearray(bytes(range(256)) * 40)
        mutation(data, Random(seed), [b"\x55" * 5_000])
        changed += bytes(data) != bytes(range(256)) * 40
    assert changed >= 18


def test_what_no_picture_may_do_is_a_finding_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise TransientError(FailureCode.RENDER_CRASHED, "the renderer failed")

    monkeypatch.setattr("tools.fuzz_images.run.SubprocessRenderer.render", crash)
    kept: list[str] = []
    limits = RenderLimits(1, 1, 1, 1, 1 << 30, 1)
    report = fuzz([b"seed"], count=2, seed=1, limits=limits, keep=lambda name, _: kept.append(name))
    assert len(report.findings) == len(kept) == 2
    assert "render_crashed: the renderer failed" in report.findings[0]
