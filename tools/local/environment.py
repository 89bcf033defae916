"""Environments for child processes: nothing of a person's AWS account or proxy may leak into the stack."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

REGION = "us-east-1"
ACCOUNT = "000000000000"
ACCESS_KEY_ID = "thumblinelocal"
"""Of its own, because the CDK command line remembers which account a key id belongs to."""
SECRET_ACCESS_KEY = "local"

_INTERPRETER = frozenset({"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV"})
"""Ours must not reach the handlers: they find their code in the deployed layers, or fail as on AWS."""
_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})


def clean_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The caller's environment without anything that names an AWS account, profile or endpoint."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _INTERPRETER and not name.startswith(("AWS_", "CDK_", "THUMBLINE_"))
    }
    kept["CDK_DISABLE_VERSION_CHECK"] = "1"
    kept["JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION"] = "1"
    kept["JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"] = "1"
    kept["AWS_CONFIG_FILE"] = kept["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    kept["AWS_EC2_METADATA_DISABLED"] = "true"
    return kept


def synthesis_environment(project: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For the CDK app, which imports `infra` and `thumbline` from the source tree."""
    path = os.pathsep.join([str(project), str(project / "layers" / "core" / "python")])
    return {**clean_environment(environ), "PYTHONPATH": path}


def emulator_client_environment(endpoint_url: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For AWS clients that are to talk to the emulator and to nothing else."""
    return {
        **_without_proxies(clean_environment(environ)),
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
    }


def emulator_environment(
    port: int, temporary: Path, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """For the emulator itself, and so for the handlers that it runs."""
    return {
        **_without_proxies(clean_environment(environ)),
        "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        "BIND_HOST": "127.0.0.1",
        "DOCKER_HOST": "unix:///nonexistent",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "LAMBDA_EXECUTOR": "local",
        "MINISTACK_HOST": "localhost",
        "MINISTACK_REGION": REGION,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "S3_DATA_DIR": str(temporary / "s3"),
        "STATE_DIR": str(temporary / "state"),
        "TMPDIR": str(temporary),
    }


def _without_proxies(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.lower() not in _PROXIES}
