"""Stages: closed by default, and named when unknown."""

from __future__ import annotations

import platform
import re
from dataclasses import replace
from pathlib import Path

import pytest

from infra.errors import StageError
from infra.settings import STAGE_NAMES, host_architecture, stage_settings, with_identity

README = Path(__file__).resolve().parents[2] / "README.md"


def test_an_unknown_stage_is_answered_with_the_choices() -> None:
    with pytest.raises(StageError) as caught:
        stage_settings("staging")

    assert str(caught.value) == "unknown stage 'staging': choose one of dev, prod, local"


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_only_the_local_stage_may_be_open(name: str) -> None:
    with pytest.raises(StageError, match="nobody authenticated"):
        with_identity(stage_settings(name), "local")


def test_a_stage_takes_another_kind_of_identity_if_it_exists() -> None:
    assert with_identity(stage_settings("prod"), "token").identity == "token"
    assert with_identity(stage_settings("local"), "token").identity == "token"
    with pytest.raises(StageError) as caught:
        with_identity(stage_settings("dev"), "cookies")
    assert str(caught.value) == "unknown identity 'cookies': choose one of iam, token, local"


def test_the_readme_tells_what_an_owner_may_ask_for_here_and_there() -> None:
    local, *deployed = (stage_settings(name) for name in ("local", "dev", "prod"))
    (sentence,) = re.findall(r"Each owner may ask ([^;]*);", " ".join(README.read_text().split()))

    for stage in deployed:
        told = (
            f"{stage.owner_requests_per_second} times a second and have {stage.owner_open_jobs:,} open jobs,"
        )
        assert sentence.startswith(told)
        assert local.owner_requests_per_second == 10 * stage.owner_requests_per_second
        assert local.owner_open_jobs == 10 * stage.owner_open_jobs
    assert "ten times that on the local stack" in sentence


def test_prod_keeps_its_data_and_dev_leaves_nothing() -> None:
    dev, prod = stage_settings("dev"), stage_settings("prod")

    assert prod.retains_data
    assert not dev.retains_data


def test_nobodys_address_is_written_down() -> None:
    assert {stage_settings(name).alarm_email for name in STAGE_NAMES} == {None}


@pytest.mark.parametrize("address", ["ops", "ops@example", "a b@example.com", "@example.com"])
def test_an_alarm_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(StageError, match=f"the alarm address '{address}' is not an e-mail address"):
        replace(stage_settings("dev"), alarm_email=address)


def test_dev_reserves_no_concurrency_because_new_accounts_refuse_it() -> None:
    assert stage_settings("dev").worker_reserved_concurrency is None


@pytest.mark.parametrize(
    ("machine", "architecture"),
    [("aarch64", "arm64"), ("arm64", "arm64"), ("x86_64", "x86_64"), ("AMD64", "x86_64")],
)
def test_the_local_stage_has_the_architecture_of_its_host(
    machine: str, architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)

    assert stage_settings("local").architecture == architecture
    assert stage_settings("dev").architecture == "arm64"


def test_a_host_that_lambda_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")

    with pytest.raises(StageError, match="'riscv64'"):
        host_architecture()
