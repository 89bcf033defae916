"""Builds the third-party layers with pip for Lambda's platform, without Docker, and keeps them.

A layer is named by its lock file, platform and Python version, so an unchanged one is never built again and
synthesis needs no network once it exists.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import platform
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from infra.assets import Asset
from infra.errors import BundleError
from infra.settings import RUNTIME_PYTHON, StageSettings

RECIPE_VERSION = 2
"""Part of a layer's name: raise it when the steps below change what they produce."""

_WHEEL_MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}
_PRUNED_FOLDERS = ("__pycache__", "tests", "bin")
KEPT_SERVICES = frozenset({"dynamodb", "dynamodbstreams", "s3", "sqs", "sts"})
"""Of the SDK's descriptions of four hundred services, those that a client is made for. The others are most of
a layer's files, and of what a cold start unpacks."""


@dataclass(frozen=True, slots=True)
class Platform:
    """What a layer is built for: its name, and the arguments that make pip choose such wheels."""

    name: str
    pip_arguments: tuple[str, ...]

    @property
    def is_this_interpreter(self) -> bool:
        return not self.pip_arguments

    @classmethod
    def of_stage(cls, settings: StageSettings) -> Self:
        """Lambda's own; in the local stage this interpreter's, since the emulator runs handlers under it."""
        if settings.name == "local":
            version = platform.python_version_tuple()
            return cls(f"cp{version[0]}{version[1]}-{sys.platform}-{platform.machine()}", ())
        machine = _WHEEL_MACHINES[settings.architecture]
        tags = (f"manylinux2014_{machine}", f"manylinux_2_28_{machine}")
        return cls(
            f"cp{RUNTIME_PYTHON.replace('.', '')}-linux-{machine}",
            (
                *("--implementation", "cp", "--python-version", RUNTIME_PYTHON),
                *(argument for tag in tags for argument in ("--platform", tag)),
            ),
        )


def bundle_layer(lock: Path, target: Platform) -> Asset:
    """The layer of a lock file, from the `build` folder beside it or built into that.

    Raises BundleError naming the package and the cause; a failed build leaves nothing behind.
    """
    if not lock.is_file():
        raise BundleError(f"the lock file {lock} is missing, so its layer cannot be built")
    layer_hash = _layer_hash(lock, target)
    cache = lock.parent / "build"
    finished = cache / layer_hash
    if not finished.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".building-") as folder:
            unfinished = Path(folder) / "layer"
            _install(lock, target, unfinished / "python")
            _prune(unfinished)
            if target.is_this_interpreter:
                _compile(unfinished)
            _publish(unfinished, finished)
    return Asset(finished, layer_hash)


def _layer_hash(lock: Path, target: Platform) -> str:
    name = f"{RECIPE_VERSION}\n{target.name}\n".encode()
    return hashlib.sha256(name + lock.read_bytes()).hexdigest()


def _install(lock: Path, target: Platform, destination: Path) -> None:
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"),
        *("--no-deps", "--require-hashes", "--only-binary=:all:", "--no-compile"),
        *target.pip_arguments,
        *("--target", str(destination), "--requirement", str(lock)),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        raise BundleError(f"layer {lock.parent.name} for {target.name}: {explain_pip(run.stderr)}")


def explain_pip(stderr: str) -> str:
    """One sentence from pip's output: the package it stopped at, and why."""
    package = re.search(r"[A-Za-z0-9][\w.-]*==[\w.!+]*\w", stderr)
    subject = package.group() if package else "a package"
    if "DO NOT MATCH THE HASHES" in stderr:
        return f"{subject} does not have the hash that the lock file pins"
    if "No matching distribution" in stderr:
        offline = re.search(r"(?i)connection|timed out|name resolution|proxy|ssl", stderr)
        cause = "the package index cannot be reached" if offline else "there is no wheel for this platform"
        return f"{subject} cannot be installed because {cause}"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()] or ["pip gave no reason"]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return f"{subject} cannot be installed: {(errors or lines)[-1]}"


def _prune(layer: Path) -> None:
    for name in _PRUNED_FOLDERS:
        for folder in sorted(layer.rglob(name)):
            if folder.is_dir():
                shutil.rmtree(folder)
    for service in sorted(layer.glob("python/botocore/data/*/")):
        if service.name not in KEPT_SERVICES:
            shutil.rmtree(service)


def _compile(layer: Path) -> None:
    """Bytecode that is never checked against its source, so it is the same wherever the layer lies.

    The emulator unpacks a layer for each of its processes, and each would compile it anew.
    """
    compileall.compile_dir(
        layer,
        quiet=1,
        stripdir=str(layer),
        prependdir="/opt",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def _publish(unfinished: Path, finished: Path) -> None:
    try:
        os.rename(unfinished, finished)
    except OSError:
        # Another synthesis was faster; its layer is the same one.
        if not finished.is_dir():
            raise
