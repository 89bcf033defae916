"""The folders that set-up makes: `.venv`, `.venv-emulator`, `.venv-api` and `node_modules`."""

from __future__ import annotations

from pathlib import Path

from tools.setup import stamps
from tools.setup.commands import run, say
from tools.setup.errors import CommandFailedError
from tools.setup.prerequisites import Interpreter, running_interpreter

ENVIRONMENT = ".venv"
EMULATOR_ENVIRONMENT = ".venv-emulator"
API_ENVIRONMENT = ".venv-api"
NODE_MODULES = "node_modules"

_LOCK = Path("requirements.txt")
_INSTALLER_LOCK = Path("tools/setup/requirements.txt")
_EMULATOR_LOCK = Path("tools/local/requirements.txt")
_API_LOCK = Path("tools/fuzz_api/requirements.txt")
_NODE_FILES = (Path("package.json"), Path("package-lock.json"), Path(".npmrc"))


def ready_environment(root: Path, requested: str | None) -> Interpreter | None:
    """The interpreter of `.venv` where that is finished, works and has the requested minor version."""
    current = running_interpreter(str(_python(root / ENVIRONMENT)))
    if current is None or not stamps.is_finished(root / ENVIRONMENT, _environment_digest(root, current)):
        return None
    if requested:
        wanted = running_interpreter(requested)
        if wanted is None or wanted.minor_version != current.minor_version:
            return None
    return current


def make_environment(root: Path, python: Interpreter) -> Interpreter:
    """`.venv`, with pip (the layers are bundled by it), uv and everything that development needs."""
    folder = root / ENVIRONMENT
    say(f"making {ENVIRONMENT} with Python {python.version} ({python.command})")
    stamps.discard(folder)
    run([python.command, "-I", "-m", "venv", folder], action=f"making {ENVIRONMENT}", folder=root)
    _bring_uv(root)
    _install(root, folder, _LOCK)
    stamps.mark_finished(folder, _environment_digest(root, python))
    return Interpreter(str(_python(folder)), python.version)


def make_emulator_environment(root: Path, python: Interpreter) -> None:
    """`.venv-emulator`, if it is not finished: the emulator's pins must not meet ours."""
    _make_side_environment(root, python, EMULATOR_ENVIRONMENT, _EMULATOR_LOCK)


def make_api_environment(root: Path, python: Interpreter) -> None:
    """`.venv-api`, if it is not finished: what looks at the API from outside, with pins of its own."""
    _make_side_environment(root, python, API_ENVIRONMENT, _API_LOCK)


def _make_side_environment(root: Path, python: Interpreter, name: str, lock: Path) -> None:
    folder = root / name
    made_from = stamps.digest([root / lock], python.minor_version, str(root))
    if stamps.is_finished(folder, made_from):
        return
    action = f"making {name}"
    say(action)
    stamps.discard(folder)
    run([python.command, "-I", "-m", "venv", "--without-pip", folder], action=action, folder=root)
    _install(root, folder, lock)
    stamps.mark_finished(folder, made_from)


def node_modules_finished(root: Path) -> bool:
    return stamps.is_finished(root / NODE_MODULES, _node_digest(root))


def make_node_modules(root: Path) -> None:
    """`node_modules` with the CDK command line, exactly as locked."""
    say(f"making {NODE_MODULES}: the CDK command line")
    folder = root / NODE_MODULES
    stamps.discard(folder)
    # The CDK is a development dependency: NODE_ENV=production in the caller's environment would leave it out.
    command = ["npm", "ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
    run(command, action="npm ci", folder=root)
    stamps.mark_finished(folder, _node_digest(root))


def _bring_uv(root: Path) -> None:
    say("installing uv")
    try:
        _install_by_pip(root, root / ENVIRONMENT, _INSTALLER_LOCK)
    except CommandFailedError as error:
        say(f"{error}\ngoing on with pip alone, which is slower")


def _install(root: Path, folder: Path, lock: Path) -> None:
    say(f"installing {lock} into {folder.name}")
    uv = root / ENVIRONMENT / "bin" / "uv"
    if uv.exists():
        command: list[str | Path] = [uv, "pip", "install", "--require-hashes", "--no-build", "--quiet"]
        try:
            run(
                [*command, "--python", _python(folder), "-r", lock],
                action=f"installing {lock} by uv",
                folder=root,
            )
            return
        except CommandFailedError as error:
            say(f"{error}\ntrying pip instead, which is slower")
    _install_by_pip(root, folder, lock)


def _install_by_pip(root: Path, folder: Path, lock: Path) -> None:
    pip: list[str | Path] = [_python(root / ENVIRONMENT), "-I", "-m", "pip", "--python", _python(folder)]
    options = ["--require-hashes", "--only-binary=:all:", "--no-compile", "--quiet"]
    run([*pip, "install", *options, "-r", lock], action=f"installing {lock} by pip", folder=root)


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _environment_digest(root: Path, python: Interpreter) -> str:
    # The path counts: the scripts of an environment carry it, so a moved project needs a new one.
    return stamps.digest([root / _LOCK, root / _INSTALLER_LOCK], python.minor_version, str(root))


def _node_digest(root: Path) -> str:
    return stamps.digest([root / file for file in _NODE_FILES])
