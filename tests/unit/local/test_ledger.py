"""What is started can be ended, after a crash too, and nobody else's process is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.local.errors import AlreadyRunningError, LocalStackError
from tools.local.ledger import Ledger, exclusive
from tools.local.paths import Paths
from tools.local.processes import (
    ProcessIdentity,
    identify,
    identify_child,
    kill,
    python_processes_under,
    wait_until_gone,
)

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(project=tmp_path, state=tmp_path / "state")


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes outside any ledger, and ends them after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start_process(*command: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(command or SLEEP, start_new_session=True))
        return started[-1]

    yield start_process
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def ledger(paths: Paths) -> Iterator[Ledger]:
    ledger = Ledger(paths)
    ledger.open()
    yield ledger
    ledger.close()


def run(ledger: Ledger, paths: Paths, *command: str) -> subprocess.Popen[bytes]:
    return ledger.start(command or SLEEP, log=paths.logs / "x.log", environment=os.environ, folder=paths.run)


def started_by(ledger: Ledger, paths: Paths) -> tuple[subprocess.Popen[bytes], ProcessIdentity]:
    process = run(ledger, paths)
    return process, identify_child(process)


def test_closing_ends_what_was_started_and_removes_the_directory(ledger: Ledger, paths: Paths) -> None:
    process, identity = started_by(ledger, paths)

    ledger.close()

    assert process.wait(timeout=30) == -9
    assert not identity.is_alive()
    assert not paths.run.exists()
    assert paths.logs.exists()


def test_a_new_ledger_ends_what_a_crash_left_behind(ledger: Ledger, paths: Paths) -> None:
    process, _ = started_by(ledger, paths)
    (paths.run / "rubbish").write_text("x")

    Ledger(paths).open()

    assert process.wait(timeout=30) == -9
    assert not (paths.run / "rubbish").exists()
    assert paths.emulator_temporary.is_dir()


def test_children_of_what_was_started_end_with_it(ledger: Ledger, paths: Paths) -> None:
    program = f"import subprocess, sys; subprocess.run({SLEEP!r}, stdout=sys.stdout)"
    process = run(ledger, paths, sys.executable, "-c", program)
    child = wait_for_child(process.pid)

    ledger.close()

    process.wait(timeout=30)
    wait_until_gone([child], seconds=30)
    assert not child.is_alive()


def test_a_stranger_that_inherited_a_recorded_pid_is_spared(ledger: Ledger, start: Start) -> None:
    stranger = start()
    identity = identify_child(stranger)
    ledger._append(ProcessIdentity(identity.pid, "0", identity.command))

    ledger.close()

    assert stranger.poll() is None


def test_workers_that_outlived_the_emulator_are_ended(paths: Paths, ledger: Ledger, start: Start) -> None:
    script = paths.emulator_temporary / "ministack-lambda-f-1" / "_worker.py"
    script.parent.mkdir()
    script.write_text("import time; time.sleep(600)")
    worker = start(sys.executable, str(script))
    identify_child(worker)

    ledger.close()

    assert worker.wait(timeout=30) == -9


def test_who_only_looks_at_the_directory_is_spared(paths: Paths, ledger: Ledger, start: Start) -> None:
    log = paths.emulator_temporary / "log"
    log.write_text("")
    reader = start("tail", "-f", str(log))

    ledger.close()

    assert reader.poll() is None


def test_a_cut_off_record_does_not_stop_the_clean_up(ledger: Ledger, paths: Paths) -> None:
    process, _ = started_by(ledger, paths)
    with (paths.run / "processes.jsonl").open("a") as record:
        record.write('{"pid": 1')

    ledger.close()

    assert process.wait(timeout=30) == -9


def test_ending_one_process_spares_the_others(ledger: Ledger, paths: Paths) -> None:
    first, second = run(ledger, paths), run(ledger, paths)

    ledger.end(first)

    assert first.returncode == -9
    assert second.poll() is None
    ledger.end(second)


def test_a_missing_program_is_one_sentence(ledger: Ledger, paths: Paths) -> None:
    with pytest.raises(
        LocalStackError, match=r"^/nonexistent cannot be started: No such file or directory\.$"
    ):
        run(ledger, paths, "/nonexistent")


def test_output_goes_to_the_log(ledger: Ledger, paths: Paths) -> None:
    process = run(ledger, paths, sys.executable, "-c", "print('said')")
    assert process.wait(timeout=30) == 0
    assert (paths.logs / "x.log").read_text() == "said\n"


def test_one_lock_has_one_holder(tmp_path: Path) -> None:
    lock = tmp_path / "state" / "lock"
    with exclusive(lock), pytest.raises(AlreadyRunningError), exclusive(lock):
        pass
    with exclusive(lock):
        assert lock.exists()


def test_killing_somebody_who_is_gone_is_no_kill(start: Start) -> None:
    process = start()
    identity = identify_child(process)
    assert kill(identity)
    process.wait(timeout=30)
    assert not kill(identity)


def test_scripts_are_found_by_their_folder(tmp_path: Path, start: Start) -> None:
    script = tmp_path / "a" / "x.py"
    script.parent.mkdir()
    script.write_text("import time; time.sleep(600)")
    process = start(sys.executable, str(script))
    identify_child(process)

    assert [found.pid for found in python_processes_under(tmp_path / "a")] == [process.pid]
    assert python_processes_under(tmp_path / "b") == []


def wait_for_child(pid: int) -> ProcessIdentity:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    while not (listed := children.read_text().split()):
        pass
    while (child := identify(int(listed[0]))) is None:
        pass
    return child
