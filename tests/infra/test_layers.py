"""Layers are built by pip for their platform, kept by what decides their content, and fail in a sentence."""

from __future__ import annotations

import inspect
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.errors import BundleError
from infra.layers import KEPT_SERVICES, Platform, bundle_layer, explain_pip
from infra.settings import stage_settings
from thumbline.bootstrap import clients

LAMBDA = Platform.of_stage(stage_settings("prod"))
HOST = Platform.of_stage(stage_settings("local"))


@dataclass
class FakePip:
    """Stands in for the subprocess: installs one package with litter, or fails with `stderr`."""

    stderr: str = ""
    commands: list[list[str]] = field(default_factory=list)

    def run(self, command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        destination = Path(command[command.index("--target") + 1])
        litter = ("pkg/tests/test_pkg.py", "pkg/__pycache__/x.pyc", "bin/pkg")
        data = [f"botocore/data/{name}" for name in ("ec2/service.json", "s3/service.json", "_retry.json")]
        for name in ("pkg/__init__.py", *litter, *data):
            (destination / name).parent.mkdir(parents=True, exist_ok=True)
            (destination / name).write_text("")
        return subprocess.CompletedProcess(command, 1 if self.stderr else 0, "", self.stderr)


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> FakePip:
    fake = FakePip()
    monkeypatch.setattr("infra.layers.subprocess.run", fake.run)
    return fake


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    file = tmp_path / "imaging" / "requirements.txt"
    file.parent.mkdir()
    file.write_text("pillow==13.0.0 --hash=sha256:00\n")
    return file


def test_deployed_layers_are_built_for_lambda_from_wheels_with_pinned_hashes(
    pip: FakePip, lock: Path
) -> None:
    bundle_layer(lock, LAMBDA)

    command = " ".join(pip.commands[0])
    assert "--no-deps --require-hashes --only-binary=:all:" in command
    assert "--implementation cp --python-version 3.13" in command
    assert "--platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64" in command


def test_the_local_layer_is_built_for_the_interpreter_that_runs_it(pip: FakePip, lock: Path) -> None:
    bundle_layer(lock, HOST)

    assert "--platform" not in pip.commands[0]
    assert "--require-hashes" in pip.commands[0]


def test_a_layer_holds_packages_without_their_tests_caches_and_scripts(pip: FakePip, lock: Path) -> None:
    layer = bundle_layer(lock, LAMBDA).path

    assert sorted(str(path.relative_to(layer)) for path in layer.rglob("*")) == [
        "python",
        "python/botocore",
        "python/botocore/data",
        "python/botocore/data/_retry.json",
        "python/botocore/data/s3",
        "python/botocore/data/s3/service.json",
        "python/pkg",
        "python/pkg/__init__.py",
    ]
    assert len(pip.commands) == 1


def test_every_client_that_is_made_keeps_its_service() -> None:
    made = re.findall(r'boto3\.client\(\s*"(\w+)"', inspect.getsource(clients))
    assert made
    assert set(made) <= KEPT_SERVICES


@pytest.mark.usefixtures("pip")
def test_the_emulators_layer_is_compiled_once_for_all_its_processes(lock: Path) -> None:
    layer = bundle_layer(lock, HOST).path
    (compiled,) = layer.rglob("*.pyc")

    assert compiled.parent.parent == layer / "python" / "pkg"
    assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 1  # by hash, unchecked: PEP 552
    assert str(layer.parent).encode() not in compiled.read_bytes()


def test_an_unchanged_layer_is_not_built_again(pip: FakePip, lock: Path) -> None:
    first = bundle_layer(lock, LAMBDA)
    second = bundle_layer(lock, LAMBDA)

    assert first == second
    assert len(pip.commands) == 1


def test_another_lock_or_platform_is_another_layer(pip: FakePip, lock: Path) -> None:
    layers = [bundle_layer(lock, LAMBDA), bundle_layer(lock, HOST)]
    lock.write_text("pillow==13.0.1 --hash=sha256:00\n")
    layers.append(bundle_layer(lock, LAMBDA))

    assert len({layer.custom_hash for layer in layers}) == 3
    assert len(pip.commands) == 3


def test_a_failed_build_leaves_nothing_and_the_next_one_starts_anew(pip: FakePip, lock: Path) -> None:
    pip.stderr = "ERROR: No matching distribution found for pillow==13.0.0"
    with pytest.raises(BundleError) as caught:
        bundle_layer(lock, LAMBDA)

    assert str(caught.value) == (
        "layer imaging for cp313-linux-aarch64:"
        " pillow==13.0.0 cannot be installed because there is no wheel for this platform"
    )
    assert list((lock.parent / "build").iterdir()) == []

    pip.stderr = ""
    assert bundle_layer(lock, LAMBDA).path.is_dir()


def test_a_missing_lock_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"requirements\.txt is missing"):
        bundle_layer(tmp_path / "requirements.txt", LAMBDA)


@pytest.mark.parametrize(
    ("stderr", "sentence"),
    [
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError': /simple/pillow/\n"
            "ERROR: Could not find a version that satisfies the requirement pillow==13.0.0\n"
            "ERROR: No matching distribution found for pillow==13.0.0\n",
            "pillow==13.0.0 cannot be installed because the package index cannot be reached",
        ),
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n"
            "    pillow==13.0.0 from pillow-13.0.0-cp313.whl:\n"
            "        Expected sha256 00\n             Got        11\n",
            "pillow==13.0.0 does not have the hash that the lock file pins",
        ),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
            "a package cannot be installed:"
            " Could not install packages due to an OSError: [Errno 28] No space left on device",
        ),
        ("", "a package cannot be installed: pip gave no reason"),
    ],
)
def test_pips_failure_is_told_in_one_sentence(stderr: str, sentence: str) -> None:
    assert explain_pip(stderr) == sentence
