"""A stage on a fresh emulator: bootstrap, deploy, use, update in place, destroy, deploy again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.site import STACK, Site, assembly, fresh_site, make_a_thumbnail
from tools.deploy.account import Account, caller_account, check_bootstrap, stack_outputs
from tools.deploy.down import empty_bucket
from tools.deploy.errors import DeployError
from tools.local.environment import ACCOUNT, REGION

ADDRESS = "operator@example.com"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with fresh_site(tmp_path / "state", monkeypatch) as site:
        yield site


def test_a_stage_comes_changes_goes_and_comes_again(site: Site, tmp_path: Path) -> None:
    account = caller_account(site.session())
    assert (account.number, account.region) == (ACCOUNT, REGION)
    with pytest.raises(DeployError, match="is not prepared for CDK"):
        check_bootstrap(site.session(), account)
    first = assembly(tmp_path / "first")
    site.bootstrap(first)
    check_bootstrap(site.session(), account)
    empty = site.what_is_there()

    site.deploy(first)
    outputs = site.outputs()
    with site.api() as api:
        job_url = make_a_thumbnail(api, "before-the-update")

    site.deploy(assembly(tmp_path / "second", **{"alarm-email": ADDRESS}))
    assert site.outputs() == outputs, "an update in place replaces nothing that has a name"
    assert subscribers(site, outputs["AlarmTopicArn"]) == [ADDRESS]
    with site.api() as api:
        assert api.get(job_url).json()["status"] == "SUCCEEDED"
        make_a_thumbnail(api, "after-the-update")

    destroy(site, first, account, outputs["BucketName"])
    assert site.what_is_there() == empty
    assert stack_outputs(site.session(), STACK) is None

    site.deploy(first)
    with site.api() as api:
        make_a_thumbnail(api, "in-a-second-life")


def destroy(site: Site, app: str, account: Account, bucket: str) -> None:
    """What `make destroy` does, for a stage that it does not let anybody choose."""
    assert account.number == ACCOUNT
    assert empty_bucket(site.session(), bucket) == 4
    site.cdk("destroy", STACK, "--app", app, "--force")


def subscribers(site: Site, topic: str) -> list[str]:
    answer = site.client("sns").list_subscriptions_by_topic(TopicArn=topic)
    return [str(found["Endpoint"]) for found in answer["Subscriptions"]]
