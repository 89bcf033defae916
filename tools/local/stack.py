"""One local stack from start to stop: emulator, assembly, deployment, front, and a real request as proof."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.client import ImageApi, NoAnswerError
from tools.local.assembly import Assembly, AssemblyCache, inputs_digest
from tools.local.cdk import Cdk
from tools.local.emulator import Emulator
from tools.local.errors import AlreadyRunningError, LocalStackError
from tools.local.front import STAGE_PATH, Front, Target
from tools.local.gateway import GatewayResponses
from tools.local.identity import Identity
from tools.local.ledger import Ledger, exclusive
from tools.local.paths import Paths
from tools.local.ports import LOOPBACK, PORT_VARIABLE, bind_any, bind_front, port_of
from tools.local.processes import ProcessIdentity, identify
from tools.local.progress import Printer, Progress, to_terminal
from tools.local.serving import serving
from tools.local.state import StackState, read_state

_PROBE = "/jobs/img_00000000000000000000000000"


@dataclass(frozen=True, slots=True)
class Stack:
    """A ready stack; one that is reused has no emulator of ours."""

    state: StackState
    emulator: Emulator | None

    @property
    def url(self) -> str:
        return self.state.url

    def check_alive(self) -> None:
        """Raises LocalStackError once the emulator has ended by itself."""
        if self.emulator is not None:
            self.emulator.check_alive()


@contextmanager
def running_stack(
    paths: Paths | None = None, *, reuse: bool = True, printer: Printer = to_terminal, any_port: bool = False
) -> Iterator[Stack]:
    """The stack that runs already (with `reuse`), or one that lives as long as the block.

    `any_port` skips the preferred port, for stacks that nobody types the address of.
    """
    paths = paths or Paths.default()
    if reuse and (state := read_state(paths.state_file)) is not None and state.ready:
        printer(f"Using the local stack at {state.url}.")
        yield Stack(state, None)
        return
    with started_stack(paths, printer=printer, any_port=any_port) as stack:
        yield stack


@contextmanager
def started_stack(
    paths: Paths,
    *,
    printer: Printer = to_terminal,
    any_port: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Iterator[Stack]:
    """A stack of our own. All that it starts is stopped and removed when the block ends, however it ends.

    Raises AlreadyRunningError when this state directory has a stack, PortTakenError, or LocalStackError with
    the cause in one sentence.
    """
    progress = Progress(printer)
    with ExitStack() as cleanup:
        _lock(cleanup, paths)
        listener = bind_any() if any_port else bind_front(environ.get(PORT_VARIABLE))
        cleanup.callback(listener.close)
        url = f"http://{LOOPBACK}:{port_of(listener)}{STAGE_PATH}"
        progress.note(f"Starting the local stack at {url}")
        ledger = Ledger(paths)
        if paths.run.exists():
            with progress.step("end and remove what an earlier run left behind"):
                ledger.close()
        ledger.open()
        cleanup.callback(ledger.close)
        front = Front()
        cleanup.enter_context(serving(front.application(), listener, log=paths.logs / "front.log"))
        state = StackState(_ourselves(), url, False, "", str(paths.run), {})
        cleanup.callback(paths.state_file.unlink, missing_ok=True)
        state.write(paths.state_file)

        with progress.step("start the emulator"):
            emulator = Emulator.start(paths, ledger)
            cleanup.callback(emulator.stop)
            emulator.wait_until_healthy()
        outputs, template = _deploy(paths, ledger, emulator, progress)
        front.target = Target(emulator.url, outputs["ApiId"], GatewayResponses.from_template(template))
        with progress.step("first request through the front"):
            _prove(url, paths.identity, log=paths.logs / "emulator.log")
        state = StackState(state.owner, url, True, emulator.url, str(paths.run), outputs)
        state.write(paths.state_file)
        progress.note(f"Ready after {progress.elapsed_seconds():.1f} s: {url}")
        yield Stack(state, emulator)


def _lock(cleanup: ExitStack, paths: Paths) -> None:
    try:
        cleanup.enter_context(exclusive(paths.lock))
    except AlreadyRunningError as error:
        state = read_state(paths.state_file)
        if state is None or not state.ready:
            sentence = "A local stack is already starting or stopping here: try again in a moment."
        else:
            sentence = (
                f"A local stack is already running at {state.url} (process {state.owner.pid}): stop it first."
            )
        raise AlreadyRunningError(sentence) from error


def _deploy(
    paths: Paths, ledger: Ledger, emulator: Emulator, progress: Progress
) -> tuple[dict[str, str], dict[str, object]]:
    """Synthesizes if need be, deploys, and returns the outputs and the template.

    One stack at a time works with the shared assembly, so nobody deploys what somebody else is rewriting.
    """
    cdk = Cdk(paths, ledger)
    cache = AssemblyCache(paths.assembly_cache)
    cache.root.mkdir(parents=True, exist_ok=True)
    with cache.lock.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _synthesize(cdk, cache, emulator, progress)
        assembly: Assembly = cache.assembly
        with progress.step("prepare the emulator's account (cdk bootstrap)"):
            cdk.bootstrap(assembly, emulator.url, watch=emulator.check_alive)
        with progress.step("deploy the stack (cdk deploy)"):
            outputs = cdk.deploy(assembly, emulator.url, watch=emulator.check_alive)
        return outputs, assembly.template()


def _synthesize(cdk: Cdk, cache: AssemblyCache, emulator: Emulator, progress: Progress) -> None:
    digest = inputs_digest(cdk.paths.project)
    if cache.is_current(digest):
        progress.note("  the assembly is up to date")
        return
    with progress.step("synthesize the stack (cdk synth)"):
        cache.invalidate()
        cdk.synthesize(cache.assembly, watch=emulator.check_alive)
        cache.confirm(digest)


def _prove(url: str, identity: Identity, *, log: Path) -> None:
    """Raises LocalStackError unless an unknown job is answered as our API answers it: by a 404 problem, or,
    where callers must bear tokens, by a 401 problem."""
    with ImageApi(url) as api:
        try:
            answer = api.get(f"{url}{_PROBE}")
        except NoAnswerError as error:
            raise LocalStackError(f"The front does not answer: {error}.") from error
    if answer.status != (401 if identity == "token" else 404) or answer.problem is None:
        raise LocalStackError(
            f"The API answered the first request with {answer.problem or answer.status}.",
            log=log,
        )


def _ourselves() -> ProcessIdentity:
    identity = identify(os.getpid())
    assert identity is not None
    return identity
