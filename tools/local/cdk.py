"""The CDK command line: synthesize the local stage, bootstrap and deploy it to the emulator."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.local.assembly import Assembly
from tools.local.environment import ACCOUNT, REGION, emulator_client_environment, synthesis_environment
from tools.local.errors import LocalStackError
from tools.local.ledger import Ledger
from tools.local.paths import Paths

_QUIET = ("--no-color", "--no-notices", "--ci")
_POLL_SECONDS = 0.2
_RESOURCE_FAILED = re.compile(r"\| (CREATE|UPDATE|DELETE)_FAILED ")
_NO_CAUSE = "Subprocess exited with error 1"
"""What cdk adds after the app's own words."""


@dataclass(frozen=True, slots=True)
class Cdk:
    """Runs cdk in a process group of its own. `watch` is called while it runs and may raise to give up."""

    paths: Paths
    ledger: Ledger

    def synthesize(self, assembly: Assembly, *, watch: Callable[[], None]) -> None:
        self._run(
            "synth",
            [
                *("synth", "--quiet", "--context", "stage=local"),
                *("--context", f"identity={self.paths.identity}"),
                *("--app", f"{sys.executable} app.py", "--output", str(assembly.folder)),
            ],
            environment=synthesis_environment(self.paths.project),
            watch=watch,
            purpose="synthesize the local stage",
        )

    def bootstrap(self, assembly: Assembly, endpoint_url: str, *, watch: Callable[[], None]) -> None:
        self._run(
            "bootstrap",
            ["bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", str(assembly.folder)],
            environment=emulator_client_environment(endpoint_url),
            watch=watch,
            purpose="prepare the emulator's account for deployments",
        )

    def deploy(self, assembly: Assembly, endpoint_url: str, *, watch: Callable[[], None]) -> dict[str, str]:
        """The stack's outputs by name."""
        self._run(
            "deploy",
            [
                *("deploy", "--all", "--require-approval", "never", "--progress", "events"),
                *("--app", str(assembly.folder), "--outputs-file", str(self.paths.outputs_file)),
            ],
            environment=emulator_client_environment(endpoint_url),
            watch=watch,
            purpose="deploy the stack to the emulator",
        )
        return read_outputs(self.paths.outputs_file)

    def _run(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        watch: Callable[[], None],
        purpose: str,
    ) -> None:
        node = shutil.which("node")
        if node is None or not self.paths.cdk.exists():
            raise LocalStackError("The CDK command line is not installed: run `make setup`.")
        log = self.paths.logs / f"{name}.log"
        process = self.ledger.start(
            [node, str(self.paths.cdk), *arguments, *_QUIET],
            log=log,
            environment=environment,
            folder=self.paths.project,
        )
        try:
            while True:
                try:
                    code = process.wait(timeout=_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    watch()
        finally:
            self.ledger.end(process)
        if code != 0:
            raise LocalStackError(f"cdk could not {purpose}: {last_complaint(log)}", log=log)


def read_outputs(path: Path) -> dict[str, str]:
    """Every stack's outputs as one mapping. Raises LocalStackError when cdk wrote none."""
    if not path.exists():
        raise LocalStackError("The deployed stack has no outputs.")
    stacks: dict[str, dict[str, str]] = json.loads(path.read_text())
    return {name: value for outputs in stacks.values() for name, value in outputs.items()}


def last_complaint(log: Path) -> str:
    """The line of cdk's log that says what went wrong, as far as one can tell from outside."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    if failed := [line for line in lines if _RESOURCE_FAILED.search(line)]:
        # Whatever comes after the first failed resource follows from it.
        return failed[0].rpartition("|")[2].strip()
    lines = [line for line in lines if not line.endswith(_NO_CAUSE)]
    complaints = [line for line in lines if "error" in line.lower() or "failed" in line]
    return (complaints or lines or ["it said nothing."])[-1]
