"""One frozen class of settings per function: `to_env` to deploy it, `from_env` for its cold start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, Self, cast, get_args, get_origin, get_type_hints

from thumbline.domain.errors import SettingsError
from thumbline.domain.presets import DEFAULT_PRESET_NAME, Preset, RenderLimits
from thumbline.domain.timings import Timings

OwnerSource = Literal["iam", "token", "local"]
"""Who says whose a request is: SigV4, the token authorizer, or, on the local stack alone, nobody."""


class EnvironmentSettings:
    """Turns a flat or nested dataclass into `THUMBLINE_*` variables and back.

    Nested dataclasses are flattened; presets travel as JSON. Every fault is reported at once. `stage` is the
    dimension of a function's metrics, by which stages of one account are told apart.
    """

    def to_env(self) -> dict[str, str]:
        return _encode(self)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Raises SettingsError naming each missing or malformed variable and what was expected."""
        faults: list[str] = []
        settings = _decode(cls, environ, faults)
        if faults:
            raise SettingsError("; ".join(faults))
        return cast("Self", settings)

    @classmethod
    def variable_names(cls) -> frozenset[str]:
        return frozenset(_names(cls))


@dataclass(frozen=True, slots=True)
class IngestSettings(EnvironmentSettings):
    """ingest_api. Bytes, seconds; `presets` always holds the default one."""

    jobs_table: str
    idempotency_table: str
    access_table: str
    bucket: str
    owner_source: OwnerSource
    presets: tuple[Preset, ...]
    inline_limit_bytes: int
    """Of a picture in a request's body; above it, uploads."""
    upload_limit_bytes: int
    requests_per_second: int
    """Of one owner."""
    max_open_jobs: int
    """Of one owner."""
    timings: Timings
    idempotency_seconds: int
    retry_after_seconds: int
    signed_url_seconds: int
    stage: str

    def __post_init__(self) -> None:
        if DEFAULT_PRESET_NAME not in {preset.name for preset in self.presets}:
            raise SettingsError(f"THUMBLINE_PRESETS: the preset {DEFAULT_PRESET_NAME!r} must be defined")


@dataclass(frozen=True, slots=True)
class AuthorizerSettings(EnvironmentSettings):
    """token_authorizer."""

    access_table: str


@dataclass(frozen=True, slots=True)
class RelaySettings(EnvironmentSettings):
    """outbox_relay."""

    work_queue_url: str
    dead_letter_queue_url: str
    stage: str


@dataclass(frozen=True, slots=True)
class WorkerSettings(EnvironmentSettings):
    """thumbnail_worker."""

    jobs_table: str
    bucket: str
    work_queue_url: str
    dead_letter_queue_url: str
    timings: Timings
    beat_call_seconds: int
    """The longest that each call of a heartbeat may take."""
    limits: RenderLimits
    stage: str


@dataclass(frozen=True, slots=True)
class ReconcilerSettings(EnvironmentSettings):
    """job_reconciler. `max_jobs_per_run` caps each part of a pass."""

    jobs_table: str
    bucket: str
    work_queue_url: str
    undelivered_queue_url: str
    relay_failure_queue_url: str
    timings: Timings
    max_jobs_per_run: int
    stage: str


def _variable(field_name: str) -> str:
    return f"THUMBLINE_{field_name.upper()}"


def _names(kind: Any) -> list[str]:
    hints = get_type_hints(kind)
    found: list[str] = []
    for field in fields(kind):
        nested = hints[field.name]
        found.extend(_names(nested) if is_dataclass(nested) else [_variable(field.name)])
    return found


def _encode(value: Any) -> dict[str, str]:
    env: dict[str, str] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if is_dataclass(item):
            env.update(_encode(item))
        elif isinstance(item, tuple):
            records = [preset.to_record() for preset in item]
            env[_variable(field.name)] = json.dumps(records, separators=(",", ":"))
        else:
            env[_variable(field.name)] = str(item)
    return env


def _decode(kind: Any, environ: Mapping[str, str], faults: list[str]) -> Any:
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):
        wanted = hints[field.name]
        if is_dataclass(wanted):
            values[field.name] = _decode(wanted, environ, faults)
            continue
        name = _variable(field.name)
        text = environ.get(name, "")
        if not text:
            faults.append(f"{name} is not set")
            continue
        try:
            values[field.name] = _parse(wanted, text)
        except (TypeError, ValueError) as error:
            faults.append(f"{name}: {error}")
    if faults:
        return None
    return kind(**values)


def _parse(wanted: Any, text: str) -> Any:
    if wanted is int:
        if not text.isascii() or not text.isdigit():
            raise ValueError(f"expected a whole number, got {text!r}")
        return int(text)
    if get_origin(wanted) is Literal:
        if text not in get_args(wanted):
            raise ValueError(f"expected one of {', '.join(get_args(wanted))}, got {text!r}")
        return text
    if get_origin(wanted) is tuple:
        records = json.loads(text)
        if not isinstance(records, list):
            raise ValueError("expected a JSON list of presets")
        return tuple(Preset.from_record(record) for record in records)
    return text
