"""One package has one version everywhere, pinned by hash, and locks carry no address."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOT_LOCK = "requirements.txt"
LAYER_LOCKS = ("layers/runtime/requirements.txt", "layers/imaging/requirements.txt")
EMULATOR_LOCK = "tools/local/requirements.txt"
TOOL_LOCKS = ("tools/fuzz_api/requirements.txt", "tools/setup/requirements.txt")
LOCKS = (ROOT_LOCK, *LAYER_LOCKS, EMULATOR_LOCK, *TOOL_LOCKS)


def entries(lock: str) -> dict[str, str]:
    """Each package's pin with its marker and hashes, as the lock has it."""
    logical_lines = (ROOT / lock).read_text().replace("\\\n", " ").splitlines()
    return {line.split("==")[0]: " ".join(line.split()) for line in logical_lines}


def versions(lock: str) -> dict[str, str]:
    return {name: entry.split()[0] for name, entry in entries(lock).items()}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_is_pinned_with_hashes_and_without_address(lock: str) -> None:
    assert entries(lock)
    for entry in entries(lock).values():
        assert re.match(r"[a-z0-9-]+==[^ ]+ (; [^-]*)?--hash=sha256:[0-9a-f]{64}\b", entry), entry
        assert "://" not in entry


@pytest.mark.parametrize("lock", LOCKS)
def test_every_wish_is_exact_and_locked(lock: str) -> None:
    source = (ROOT / lock).with_suffix(".in").read_text()
    wishes = [line for line in source.splitlines() if line and not line.startswith(("#", "-r "))]

    assert wishes
    for wish in wishes:
        name, version = re.sub(r"\[.*\]", "", wish).split("==")
        assert versions(lock)[name] == f"{name}=={version}"


@pytest.mark.parametrize("lock", LAYER_LOCKS)
def test_what_is_tested_is_what_runs_in_lambda(lock: str) -> None:
    tested = entries(ROOT_LOCK)

    for name, entry in entries(lock).items():
        assert tested[name] == entry


def test_the_emulator_runs_handlers_with_the_layers_sdk() -> None:
    layer = versions(LAYER_LOCKS[0])
    emulator = versions(EMULATOR_LOCK)

    assert {"boto3", "botocore"} <= layer.keys() & emulator.keys()
    for name in layer.keys() & emulator.keys():
        assert emulator[name] == layer[name]


def test_the_node_lock_pins_by_integrity_and_without_address() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    wishes = json.loads((ROOT / "package.json").read_text())["devDependencies"]

    for name, version in wishes.items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    for path, package in lock["packages"].items():
        assert "resolved" not in package
        assert path == "" or package["integrity"].startswith("sha512-")
