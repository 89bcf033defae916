"""The child process under everything that can go wrong with it: the next picture always works."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.unit.render.pictures import (
    LIMITS,
    encoded,
    image_file,
    opened,
    preset,
    quadrants,
    repeat_last_scan,
)
from thumbline.adapters.pillow.recipe import render
from thumbline.adapters.pillow.subprocess_renderer import SubprocessRenderer
from thumbline.domain.errors import FailureCode, PermanentError, TransientError

_PROC = Path("/proc/self/fd")
_WALL_SECONDS = 60.0
_GOOD = encoded(quadrants(60, 40), "JPEG")
_UNBOUNDED_SCANS = replace(LIMITS, max_scan_megapixels=10**9, cpu_seconds=600)

on_linux = pytest.mark.skipif(
    not _PROC.exists(), reason="reads /proc, or needs limits that only Linux enforces"
)


@pytest.fixture
def renderer() -> Iterator[SubprocessRenderer]:
    with SubprocessRenderer(LIMITS) as renderer:
        yield renderer


@pytest.fixture(scope="module")
def endless() -> bytes:
    """Minutes of decoding in a few hundred kilobytes."""
    progressive = encoded(Image.effect_noise((3000, 3000), 5), "JPEG", progressive=True, quality=5)
    return repeat_last_scan(progressive, 2_000)


def _renders(renderer: SubprocessRenderer) -> bool:
    rendering = renderer.render(_GOOD, [preset()], wall_seconds=_WALL_SECONDS)
    return rendering == render(_GOOD, [preset()], LIMITS)


def _child_id(renderer: SubprocessRenderer) -> int:
    process_id = renderer.child_process_id
    assert process_id is not None
    return process_id


def _eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _WALL_SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def _is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_child_gives_what_the_recipe_gives_and_is_reused(renderer: SubprocessRenderer) -> None:
    before = renderer.child_process_id
    assert _renders(renderer)
    first = _child_id(renderer)
    assert _renders(renderer)
    assert _child_id(renderer) == first
    assert before is None


def test_a_refusal_arrives_with_its_code_and_keeps_the_child(renderer: SubprocessRenderer) -> None:
    with pytest.raises(PermanentError, match="truncated") as refusal:
        renderer.render(image_file("trunc-hibiscus-p50.jpg"), [preset()], wall_seconds=_WALL_SECONDS)
    assert refusal.value.code == FailureCode.TRUNCATED
    first = _child_id(renderer)
    assert _renders(renderer)
    assert renderer.child_process_id == first


def test_a_killed_child_is_transient_and_replaced(endless: bytes) -> None:
    with SubprocessRenderer(_UNBOUNDED_SCANS) as renderer:
        assert _renders(renderer)
        child = _child_id(renderer)
        killer = threading.Timer(0.3, os.kill, (child, signal.SIGKILL))
        killer.start()
        with pytest.raises(TransientError, match="SIGKILL") as crash:
            renderer.render(endless, [preset()], wall_seconds=_WALL_SECONDS)
        killer.join()
        assert crash.value.code == FailureCode.RENDER_CRASHED
        assert _renders(renderer)
        assert _child_id(renderer) != child


def _kill_each_child(renderer: SubprocessRenderer, sign: signal.Signals, times: int) -> threading.Thread:
    """Kills that many children one after the other, each while it renders."""

    def kill() -> None:
        last: int | None = None
        for _ in range(times):
            assert _eventually(lambda: renderer.child_process_id not in (None, last))  # noqa: B023
            last = _child_id(renderer)
            time.sleep(0.3)
            os.kill(last, sign)

    killer = threading.Thread(target=kill)
    killer.start()
    return killer


def test_a_crash_in_a_used_child_is_tried_again_in_a_fresh_one(endless: bytes) -> None:
    with SubprocessRenderer(replace(_UNBOUNDED_SCANS, cpu_seconds=2)) as renderer:
        assert _renders(renderer)
        killer = _kill_each_child(renderer, signal.SIGSEGV, 1)
        # The second child gets as far as the limit on processor time.
        with pytest.raises(PermanentError, match="processor time"):
            renderer.render(endless, [preset()], wall_seconds=_WALL_SECONDS)
        killer.join()


def test_a_picture_that_crashes_a_fresh_child_is_refused_at_the_first_attempt(endless: bytes) -> None:
    with SubprocessRenderer(_UNBOUNDED_SCANS) as renderer:
        assert _renders(renderer)
        killer = _kill_each_child(renderer, signal.SIGABRT, 2)
        with pytest.raises(PermanentError, match="crashes its decoder \\(SIGABRT\\)") as refusal:
            renderer.render(endless, [preset()], wall_seconds=_WALL_SECONDS)
        killer.join()
        assert refusal.value.code == FailureCode.CORRUPT
        assert _renders(renderer)


def test_a_child_killed_while_idle_costs_nothing(renderer: SubprocessRenderer) -> None:
    assert _renders(renderer)
    child = _child_id(renderer)
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert _renders(renderer)


def test_too_long_by_the_clock_is_transient_and_replaced(endless: bytes) -> None:
    with SubprocessRenderer(_UNBOUNDED_SCANS) as renderer:
        assert _renders(renderer)
        child = _child_id(renderer)
        with pytest.raises(TransientError, match=r"within 0\.5 s") as timeout:
            renderer.render(endless, [preset()], wall_seconds=0.5)
        assert timeout.value.code == FailureCode.RENDER_TIMED_OUT
        assert not _is_running(child)
        assert _renders(renderer)


def test_the_limit_bounds_the_caller_s_time(endless: bytes) -> None:
    with (
        SubprocessRenderer(replace(_UNBOUNDED_SCANS, wall_seconds=1)) as renderer,
        pytest.raises(TransientError, match="within 1 s"),
    ):
        renderer.render(endless, [preset()], wall_seconds=_WALL_SECONDS)


def test_too_much_processor_time_is_the_picture_s_fault(endless: bytes) -> None:
    with SubprocessRenderer(replace(_UNBOUNDED_SCANS, cpu_seconds=1)) as renderer:
        with pytest.raises(PermanentError, match="1 s of processor time") as refusal:
            renderer.render(endless, [preset()], wall_seconds=_WALL_SECONDS)
        assert refusal.value.code == FailureCode.TOO_COMPLEX
        assert _renders(renderer)


@on_linux
def test_processor_time_is_allowed_per_picture_not_per_child() -> None:
    scans = repeat_last_scan(encoded(Image.effect_noise((2000, 2000), 5), "JPEG", progressive=True), 8)
    with SubprocessRenderer(replace(_UNBOUNDED_SCANS, cpu_seconds=2)) as renderer:
        assert _renders(renderer)
        child = _child_id(renderer)
        while _processor_seconds(child) < 3:
            renderer.render(scans, [preset()], wall_seconds=_WALL_SECONDS)
        assert renderer.child_process_id == child


def _processor_seconds(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@on_linux
def test_memory_that_runs_out_is_never_called_corrupt() -> None:
    # The budget admits the picture; the limit on the process does not.
    script = """
import sys
from tests.unit.render.pictures import LIMITS, encoded, preset
from dataclasses import replace
from PIL import Image
from thumbline.adapters.pillow import recipe, sandbox
from thumbline.domain.errors import PermanentError
options = {"JPEG": {"progressive": True}, "PNG": {}, "WEBP": {"method": 0}}[sys.argv[1]]
data = encoded(Image.new("RGB", (6000, 4000)), sys.argv[1], **options)
limits = replace(LIMITS, memory_bytes=90 << 20)
sandbox.confine(limits.memory_bytes)
recipe.admit_memory = lambda *arguments: None
try:
    recipe.render(data, [preset()], limits)
except (PermanentError, MemoryError) as error:
    print(getattr(error, "code", "MemoryError"))
"""
    for kind in ("JPEG", "PNG", "WEBP"):
        run = subprocess.run(
            [sys.executable, "-c", script, kind],
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() in {FailureCode.TOO_COMPLEX, "MemoryError"}


@on_linux
def test_the_child_s_address_space_is_limited(renderer: SubprocessRenderer) -> None:
    assert _renders(renderer)
    limits = Path(f"/proc/{renderer.child_process_id}/limits").read_text()
    soft = {line[:26].strip(): line[26:47].strip() for line in limits.splitlines()}
    assert soft["Max address space"] == str(LIMITS.memory_bytes)
    assert soft["Max core file size"] == "0"
    assert soft["Max file size"] == "0"
    assert int(soft["Max cpu time"]) <= LIMITS.cpu_seconds + 2


@on_linux
def test_the_child_inherits_neither_environment_nor_descriptors(
    renderer: SubprocessRenderer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with (tmp_path / "open-file").open("w"):
        assert _renders(renderer)
    child = Path(f"/proc/{renderer.child_process_id}")
    assert b"AWS" not in (child / "environ").read_bytes()
    targets = [os.readlink(entry) for entry in (child / "fd").iterdir()]
    assert not [target for target in targets if "open-file" in target]
    assert sum(target.startswith("pipe:") for target in targets) >= 2
    assert os.readlink(child / "fd" / "0") == os.devnull
    assert os.readlink(child / "fd" / "1") == os.readlink(child / "fd" / "2")


def test_close_ends_the_child_and_a_later_picture_starts_another(renderer: SubprocessRenderer) -> None:
    assert _renders(renderer)
    child = _child_id(renderer)
    renderer.close()
    renderer.close()
    assert not _is_running(child)
    assert _renders(renderer)


def test_the_child_ends_with_a_parent_that_had_no_time_to_close() -> None:
    script = """
import os, signal
from tests.unit.render.pictures import LIMITS, encoded, preset, quadrants
from thumbline.adapters.pillow.subprocess_renderer import SubprocessRenderer
renderer = SubprocessRenderer(LIMITS)
renderer.render(encoded(quadrants(60, 40), "JPEG"), [preset()], wall_seconds=60)
print(renderer.child_process_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL
    assert _eventually(lambda: not _is_running(int(run.stdout)))


def _children() -> set[str]:
    """The process ids of this thread's children; empty where the kernel does not tell."""
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    return set(children.read_text().split()) if children.exists() else set()


@on_linux
def test_five_hundred_pictures_leave_no_descriptor_no_file_and_no_process(
    endless: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    gc.collect()
    before = len(list(_PROC.iterdir()))
    others = _children()  # another suite's processes may run beside this one
    kinds = {
        "HEIC": image_file("heic-turned-5.heic"),
        **{kind: encoded(quadrants(60, 40), kind) for kind in ("PNG", "GIF", "WEBP", "AVIF", "TIFF", "BMP")},
    }
    with SubprocessRenderer(replace(_UNBOUNDED_SCANS, wall_seconds=60)) as renderer:
        for number in range(500):
            if number % 125 == 10:
                with pytest.raises(TransientError):
                    renderer.render(endless, [preset()], wall_seconds=0.05)
            elif number % 10 == 3:
                with pytest.raises(PermanentError):
                    renderer.render(_GOOD[: -number % 97 - 3], [preset()], wall_seconds=_WALL_SECONDS)
            else:
                picture = list(kinds.values())[number % len(kinds)]
                assert renderer.render(picture, [preset()], wall_seconds=_WALL_SECONDS).thumbnails
        assert len(list(_PROC.iterdir())) <= before + 2
    assert len(list(_PROC.iterdir())) == before
    assert _children() == others
    assert not list(tmp_path.iterdir())


def test_threads_share_one_child(renderer: SubprocessRenderer) -> None:
    outcomes: list[bool] = []
    threads = [threading.Thread(target=lambda: outcomes.append(_renders(renderer))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 6


def test_a_picture_larger_than_a_pipe_passes(renderer: SubprocessRenderer) -> None:
    noise = Image.merge("RGB", [Image.effect_noise((900, 900), 120) for _ in range(3)])
    original = encoded(noise, "PNG", compress_level=1)
    assert len(original) > 1 << 20
    rendering = renderer.render(original, [preset(900, 900, output="png")], wall_seconds=_WALL_SECONDS)
    assert opened(rendering.thumbnails[0].data).tobytes() == noise.tobytes()


def test_an_interpreter_that_cannot_start_is_transient(
    renderer: SubprocessRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(TransientError, match="could not be started"):
        renderer.render(_GOOD, [preset()], wall_seconds=_WALL_SECONDS)
    monkeypatch.undo()
    assert _renders(renderer)


def test_a_child_that_ends_at_once_is_transient(
    renderer: SubprocessRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(TransientError, match="exit code 1") as crash:
        renderer.render(_GOOD, [preset()], wall_seconds=_WALL_SECONDS)
    assert crash.value.code == FailureCode.RENDER_CRASHED
    monkeypatch.undo()
    assert _renders(renderer)


def test_our_own_defect_is_transient_and_carries_its_trace(renderer: SubprocessRenderer) -> None:
    broken = replace(preset(), name="ok")
    object.__setattr__(broken, "name", "not a name")
    with pytest.raises(TransientError, match="failed unexpectedly") as defect:
        renderer.render(_GOOD, [broken], wall_seconds=_WALL_SECONDS)
    assert defect.value.code == FailureCode.RENDER_CRASHED
    assert "Traceback" in defect.value.__notes__[0]
    assert "Traceback" not in defect.value.detail
    assert _renders(renderer)


def test_the_parent_never_imports_pillow() -> None:
    script = "import sys; import thumbline.adapters.pillow.subprocess_renderer; print('PIL' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "False"
