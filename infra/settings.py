"""What differs between stages. Numbers that depend on each other are in `infra/topology.py`."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from aws_cdk.aws_logs import RetentionDays

from infra.errors import StageError
from thumbline.domain.presets import DEFAULT_PRESET, Preset, RenderLimits
from thumbline.settings import OwnerSource

Architecture = Literal["arm64", "x86_64"]
Identity = OwnerSource
"""How callers are told apart: SigV4, bearer tokens, or, on the local stage alone, not at all."""

RUNTIME_PYTHON = "3.13"

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

DEFAULT_LIMITS = RenderLimits(
    max_pixels=120_000_000,
    max_frames=1_000,
    max_scan_megapixels=2_000,
    cpu_seconds=10,
    memory_bytes=1_000_000_000,
    # The child has a whole vCPU to itself but waits for it at a cold start: three times its CPU budget.
    wall_seconds=30,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSettings:
    """One stage. Raises StageError when it is open to everybody without being the local one, or when the
    alarm address is none."""

    name: str
    architecture: Architecture
    identity: Identity
    retention_days: int
    """Terminal rows with their original and thumbnails; 0 keeps them for ever."""
    log_retention: RetentionDays
    retains_data: bool
    """Tables and bucket outlive the stack, and the tables refuse deletion."""
    traced: bool
    """X-Ray segments for the API and the functions."""
    worker_max_concurrency: int
    """Workers that the queue's mapping runs at once: the brake on everything behind the queue."""
    worker_reserved_concurrency: int | None
    """Taken from the account's pool; None where the account may be too new to have one to spare."""
    api_rate_limit: int
    """Steady requests per second before 429."""
    api_burst_limit: int
    inline_limit_bytes: int = 4_500_000
    """Largest picture in a request body: base64 makes 6.0 MB of it, and Lambda takes 6,291,556 bytes."""
    upload_limit_bytes: int = 100_000_000
    """Largest picture that goes straight to the bucket."""
    owner_requests_per_second: int = 50
    """What one owner may ask for; half of what the smallest stage admits at its busiest."""
    owner_open_jobs: int = 1_000
    """What one owner may have waiting, so that nobody fills the queue for all."""
    presets: tuple[Preset, ...] = (DEFAULT_PRESET,)
    limits: RenderLimits = DEFAULT_LIMITS
    alarm_email: str | None = None
    """Who is told of alarms. Given at deployment, never written down here."""

    def __post_init__(self) -> None:
        if self.name != "local" and self.identity == "local":
            raise StageError(
                f"stage {self.name!r} would answer callers that nobody authenticated:"
                " only the stage 'local' may go without identity"
            )
        if self.alarm_email is not None and not _EMAIL.fullmatch(self.alarm_email):
            raise StageError(f"the alarm address {self.alarm_email!r} is not an e-mail address")


def _dev() -> StageSettings:
    return StageSettings(
        name="dev",
        architecture="arm64",
        identity="iam",
        retention_days=365,
        log_retention=RetentionDays.TWO_WEEKS,
        retains_data=False,
        traced=True,
        # A new account may run ten functions at once; half of them are left to the others.
        worker_max_concurrency=5,
        worker_reserved_concurrency=None,
        api_rate_limit=50,
        api_burst_limit=100,
    )


def _prod() -> StageSettings:
    return StageSettings(
        name="prod",
        architecture="arm64",
        identity="iam",
        retention_days=365,
        log_retention=RetentionDays.THREE_MONTHS,
        retains_data=True,
        traced=True,
        worker_max_concurrency=50,
        worker_reserved_concurrency=50,
        api_rate_limit=500,
        api_burst_limit=1_000,
    )


def _local() -> StageSettings:
    return StageSettings(
        name="local",
        architecture=host_architecture(),
        identity="local",
        retention_days=365,
        log_retention=RetentionDays.ONE_DAY,
        retains_data=False,
        traced=False,
        # Enough to overlap storage with rendering on a laptop of two cores.
        worker_max_concurrency=4,
        worker_reserved_concurrency=None,
        api_rate_limit=500,
        api_burst_limit=1_000,
        # One owner stands for all clients.
        owner_requests_per_second=500,
        owner_open_jobs=10_000,
        # Within the local stage's shorter function timeout.
        limits=replace(DEFAULT_LIMITS, wall_seconds=15),
    )


_STAGES: dict[str, Callable[[], StageSettings]] = {"dev": _dev, "prod": _prod, "local": _local}
STAGE_NAMES = tuple(_STAGES)


def stage_settings(name: str) -> StageSettings:
    """Raises StageError naming the choices."""
    if name not in _STAGES:
        raise StageError(f"unknown stage {name!r}: choose one of {', '.join(STAGE_NAMES)}")
    return _STAGES[name]()


def with_identity(settings: StageSettings, identity: str) -> StageSettings:
    """The stage with another kind of identity. Raises StageError naming the choices."""
    for kind in get_args(Identity):
        if identity == kind:
            return replace(settings, identity=kind)
    raise StageError(f"unknown identity {identity!r}: choose one of {', '.join(get_args(Identity))}")


def host_architecture() -> Architecture:
    """This machine's, in Lambda's words. Raises StageError where Lambda knows no such machine."""
    machine = platform.machine().lower()
    if machine in ("arm64", "aarch64"):
        return "arm64"
    if machine in ("x86_64", "amd64"):
        return "x86_64"
    raise StageError(
        f"this machine's architecture {machine!r} is neither arm64 nor x86_64, which Lambda needs"
    )
