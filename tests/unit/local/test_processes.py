"""The same process looks the same whichever way it is asked about."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.local import processes


@pytest.mark.skipif(shutil.which("ps") is None, reason="there is no ps")
def test_without_proc_ps_tells_processes_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PROC", Path("/nonexistent"))
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        identity = processes.identify_child(process)
        assert identity.is_alive()
        assert process.pid in [found.pid for found in processes.every_process()]
        process.kill()
        process.wait()
        assert not identity.is_alive()


def test_a_zombie_is_not_alive() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert processes.identify(pid) is None
    os.waitpid(pid, 0)


def test_a_name_with_brackets_and_blanks_is_read(tmp_path: Path) -> None:
    script = tmp_path / "a) (b"
    script.write_text(f"#!{sys.executable}\nimport time; time.sleep(600)")
    script.chmod(0o755)
    with subprocess.Popen([str(script)]) as process:
        identity = processes.identify_child(process)
        process.kill()
    assert identity.started.isdigit()


def test_a_child_is_waited_for_until_the_kernel_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unrecorded process would outlive its stack."""
    truth = processes.identify
    blind_looks = [True, True]
    monkeypatch.setattr(
        processes, "identify", lambda pid: None if blind_looks and blind_looks.pop() else truth(pid)
    )
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        identity = processes.identify_child(process)
        process.kill()
    assert identity.pid == process.pid
    assert identity.command[0] == sys.executable


def test_a_child_that_ended_at_once_matches_nobody() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        identity = processes.identify_child(process)
    assert (identity.pid, identity.started) == (process.pid, "")
    assert not identity.is_alive()
