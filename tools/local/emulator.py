"""The pinned AWS emulator, on loopback, in an environment and a temporary folder of its own."""

from __future__ import annotations

import subprocess
import sys
import time

import urllib3

from tools.local.environment import emulator_environment
from tools.local.errors import LocalStackError
from tools.local.ledger import Ledger
from tools.local.paths import Paths
from tools.local.ports import LOOPBACK, free_port

_HEALTH = "/_ministack/health"
_START_SECONDS = 60.0
_POLL_SECONDS = 0.1


class Emulator:
    """One running emulator. It keeps nothing: when it stops, its state is gone."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, paths: Paths, ledger: Ledger) -> None:
        self._process = process
        self._ledger = ledger
        self._log = paths.logs / "emulator.log"
        self.url = f"http://{LOOPBACK}:{port}"

    @classmethod
    def start(cls, paths: Paths, ledger: Ledger) -> Emulator:
        """Raises LocalStackError when it is not installed or its Python cannot run the bundled layers."""
        if not paths.emulator_python.exists():
            raise LocalStackError(f"There is no emulator at {paths.emulator_python}: run `make setup`.")
        check_interpreter(paths)
        port = free_port()
        process = ledger.start(
            [str(paths.emulator_python), "-m", "ministack"],
            log=paths.logs / "emulator.log",
            environment=emulator_environment(port, paths.emulator_temporary),
            folder=paths.run,
        )
        return cls(process, port, paths, ledger)

    def wait_until_healthy(self) -> None:
        """Raises LocalStackError when the emulator ends, or does not answer within a minute."""
        deadline = time.monotonic() + _START_SECONDS
        with urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(total=5.0)) as http:
            while time.monotonic() < deadline:
                self.check_alive()
                try:
                    if http.request("GET", f"{self.url}{_HEALTH}").status == 200:
                        return
                except urllib3.exceptions.HTTPError:
                    pass
                time.sleep(_POLL_SECONDS)
        raise LocalStackError(
            f"The emulator did not answer within {_START_SECONDS:.0f} s.",
            log=self._log,
        )

    def check_alive(self) -> None:
        """Raises LocalStackError when the emulator has ended by itself."""
        if (code := self._process.poll()) is not None:
            raise LocalStackError(
                f"The emulator stopped unexpectedly (exit status {code}).",
                log=self._log,
            )

    def stop(self) -> None:
        """Ends the emulator with all its workers."""
        self._ledger.end(self._process)


def check_interpreter(paths: Paths) -> None:
    """Handlers run under the emulator's interpreter, with layers that were bundled for ours: they must agree.

    Raises LocalStackError naming both versions.
    """
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run(
        [str(paths.emulator_python), "-I", "-c", question], capture_output=True, text=True, check=False
    )
    theirs, ours = answer.stdout.strip(), f"{sys.version_info.major}.{sys.version_info.minor}"
    if theirs != ours:
        found = f"is Python {theirs}" if theirs else "does not start"
        raise LocalStackError(
            f"{paths.emulator_python} {found} but the layers are bundled for Python {ours}: "
            "remove .venv-emulator and run `make setup`."
        )
