"""What reaches the child processes."""

from __future__ import annotations

from pathlib import Path

from tools.local.environment import emulator_client_environment, emulator_environment, synthesis_environment

MESSY = {
    "AWS_PROFILE": "work",
    "AWS_SESSION_TOKEN": "secret",
    "AWS_ENDPOINT_URL_S3": "https://elsewhere",
    "CDK_DEFAULT_ACCOUNT": "1",
    "HTTPS_PROXY": "http://proxy",
    "http_proxy": "http://proxy",
    "PATH": "/bin",
    "PYTHONPATH": "/source",
    "THUMBLINE_STAGE": "prod",
}


def test_nothing_of_an_account_reaches_the_deployment() -> None:
    environment = emulator_client_environment("http://127.0.0.1:1", MESSY)

    assert environment["PATH"] == "/bin"
    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert environment["AWS_ACCESS_KEY_ID"] == "thumblinelocal"
    assert environment["AWS_CONFIG_FILE"] == "/dev/null"
    assert not environment.keys() & (MESSY.keys() - {"PATH"})


def test_handlers_cannot_see_the_source_tree() -> None:
    environment = emulator_environment(4566, Path("/run/tmp"), MESSY)

    assert "PYTHONPATH" not in environment
    assert environment["BIND_HOST"] == "127.0.0.1"
    assert environment["LAMBDA_EXECUTOR"] == "local"
    assert environment["TMPDIR"] == "/run/tmp"
    assert "AWS_ENDPOINT_URL" not in environment


def test_synthesis_keeps_the_proxy_and_finds_our_code() -> None:
    environment = synthesis_environment(Path("/p"), MESSY)

    assert environment["HTTPS_PROXY"] == "http://proxy"
    assert environment["PYTHONPATH"] == "/p:/p/layers/core/python"
    assert "AWS_PROFILE" not in environment
