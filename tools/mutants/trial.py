"""Runs a test with one module mutated, in a forked child that has imported nothing of ours yet."""

from __future__ import annotations

import importlib
import importlib.util
import os
import resource
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from enum import StrEnum
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from io import StringIO
from pathlib import Path
from tempfile import TemporaryFile
from types import CodeType, ModuleType

import pytest

from tools.mutants.mutant import Mutant

CPU_SECONDS = 60
"""A mutant may loop for ever; that is found by the processor time that it burns, not by a clock."""
_FAILED = 1
_OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""The warning is for plugins that the parent has imported already, which is what makes a child cheap."""


class Verdict(StrEnum):
    KILLED = "killed"
    ALIVE = "alive"
    BROKEN = "broken"
    """The test could not run at all, which proves nothing."""


class _MutatedLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 (there is one module)
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _MutatingFinder(MetaPathFinder):
    def __init__(self, module: str, source: str) -> None:
        self._module = module
        self._source = source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        loader = _MutatedLoader(fullname, spec.origin, self._source)
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=loader)


def prepare() -> None:
    """Imports what every child needs and no mutant can touch: pytest's plugins, by collecting nothing."""
    importlib.import_module("hypothesis")
    with redirect_stdout(StringIO()):
        pytest.main([*_OPTIONS, "--collect-only", "--noconftest", __file__])


def judge(mutant: Mutant) -> tuple[Verdict, str]:
    """The verdict, and the test's output. Raises StaleMutantError."""
    source = mutant.source()
    status, output = _in_child([mutant.killed_by], _MutatingFinder(mutant.full_module, source))
    if status == 0:
        return Verdict.ALIVE, output
    if os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == _FAILED:
        return Verdict.KILLED, output
    return Verdict.BROKEN, output


def pass_unharmed(tests: Sequence[str]) -> tuple[bool, str]:
    """Whether the tests pass on the code as it is, and their output: one that fails would kill anything."""
    status, output = _in_child(tests, None)
    return status == 0, output


def _in_child(tests: Sequence[str], finder: MetaPathFinder | None) -> tuple[int, str]:
    with TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            _run_tests(tests, finder, output.fileno())
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return status, output.read().decode(errors="replace")


def _run_tests(tests: Sequence[str], finder: MetaPathFinder | None, output: int) -> None:
    """Never returns."""
    code = 70
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        os.chdir(Path(__file__).resolve().parents[2])
        if finder is not None:
            sys.meta_path.insert(0, finder)
        code = int(pytest.main([*_OPTIONS, *tests]))
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
