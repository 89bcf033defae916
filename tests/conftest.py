"""What holds for every test: no account, no credentials of the person who runs them, no network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

_TESTS = Path(__file__).parent
_LOOPBACK_SUITES = ("e2e", "integration")
_ONE_PROCESS_SUITES = ("e2e", "infra")

_FAKE_AWS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    # moto knows DynamoDB Streams only under the endpoint that does not carry the account.
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}
_LEAKING_PREFIXES = ("AWS_", "POWERTOOLS_", "THUMBLINE_")


def _forget_the_callers_environment() -> None:
    for name in list(os.environ):
        # The trust store belongs to the machine, not to an account.
        if name.startswith(_LEAKING_PREFIXES) and name != "AWS_CA_BUNDLE":
            del os.environ[name]
    os.environ.update(_FAKE_AWS)


# At import, since test modules may make clients when they are collected.
_forget_the_callers_environment()


# A busy machine is no defect: neither a slow example nor slow generation fails a test.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("unhurried")


class _BySuiteOrFile(LoadScopeScheduling):
    """A file stays on one process, and so does a suite whose tests share a costly fixture."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        suite = file.removeprefix("tests/").partition("/")[0]
        return suite if suite in _ONE_PROCESS_SUITES else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _BySuiteOrFile:
    return _BySuiteOrFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuts sockets, to all hosts or to all but this one; pytest-socket reads the markers."""
    for item in items:
        suite = item.path.relative_to(_TESTS).parts[0]
        if suite in _LOOPBACK_SUITES or "emulator" in item.name:
            item.add_marker(pytest.mark.allow_hosts(["127.0.0.1", "localhost"]))
        else:
            item.add_marker(pytest.mark.disable_socket)
