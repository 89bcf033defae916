"""A stage on a fresh emulator: bootstrap, deploy, use, update in place, destroy, deploy again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.e2e.conftest import PATIENCE_SECONDS
from tools.client import ImageApi, follow
from tools.demo.pictures import SAMPLE
from tools.deploy.account import Account, caller_account, check_bootstrap, stack_outputs
from tools.deploy.cdk import run_cdk
from tools.deploy.down import empty_bucket
from tools.deploy.errors import DeployError
from tools.local.emulator import Emulator
from tools.local.environment import (
    ACCESS_KEY_ID,
    ACCOUNT,
    REGION,
    SECRET_ACCESS_KEY,
    emulator_client_environment,
    synthesis_environment,
)
from tools.local.ledger import Ledger
from tools.local.paths import PROJECT_ROOT, Paths

STACK = "Thumbline-Local"
ADDRESS = "operator@example.com"


@dataclass(frozen=True)
class Site:
    """A fresh account, as deployment tools see it."""

    url: str

    def session(self) -> boto3.Session:
        return boto3.Session(ACCESS_KEY_ID, SECRET_ACCESS_KEY, region_name=REGION)

    def client(self, service: Any) -> Any:
        return self.session().client(service, endpoint_url=self.url)

    def cdk(self, *arguments: str) -> None:
        run_cdk([*arguments, "--no-notices", "--ci"], environ=emulator_client_environment(self.url))

    def outputs(self) -> dict[str, str]:
        outputs = stack_outputs(self.session(), STACK)
        assert outputs is not None
        return outputs

    def api(self) -> ImageApi:
        return ImageApi(f"{self.url}/_aws/execute-api/{self.outputs()['ApiId']}/v1")

    def what_is_there(self) -> dict[str, list[str]]:
        """Everything of ours that can cost money or stay behind, by kind."""
        listed: dict[str, Callable[[], list[str]]] = {
            "tables": lambda: self.client("dynamodb").list_tables()["TableNames"],
            "buckets": lambda: [found["Name"] for found in self.client("s3").list_buckets()["Buckets"]],
            "queues": lambda: self.client("sqs").list_queues().get("QueueUrls", []),
            "functions": lambda: _names(self.client("lambda").list_functions()["Functions"], "FunctionName"),
            "layers": lambda: _names(self.client("lambda").list_layers()["Layers"], "LayerName"),
            "mappings": lambda: _names(
                self.client("lambda").list_event_source_mappings()["EventSourceMappings"], "UUID"
            ),
            "log groups": lambda: _names(
                self.client("logs").describe_log_groups()["logGroups"], "logGroupName"
            ),
            "rules": lambda: _names(self.client("events").list_rules()["Rules"], "Name"),
            "apis": lambda: _names(self.client("apigateway").get_rest_apis()["items"], "name"),
            "topics": lambda: _names(self.client("sns").list_topics()["Topics"], "TopicArn"),
            "alarms": lambda: _names(
                self.client("cloudwatch").describe_alarms()["MetricAlarms"], "AlarmName"
            ),
            "dashboards": lambda: _names(
                self.client("cloudwatch").list_dashboards()["DashboardEntries"], "DashboardName"
            ),
        }
        found = {kind: [name for name in names() if not _of_cdk(name)] for kind, names in listed.items()}
        return {kind: names for kind, names in found.items() if names}


def _names(items: list[dict[str, Any]], key: str) -> list[str]:
    return [str(item[key]) for item in items]


def _of_cdk(name: str) -> bool:
    """CDK's own bucket, which bootstrapping makes and no stage owns."""
    return name.startswith("cdk-hnb659fds-")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    paths = Paths(project=PROJECT_ROOT, state=tmp_path)
    ledger = Ledger(paths)
    ledger.open()
    with ExitStack() as cleanup:
        cleanup.callback(ledger.close)
        emulator = Emulator.start(paths, ledger)
        cleanup.callback(emulator.stop)
        emulator.wait_until_healthy()
        for name, value in emulator_client_environment(emulator.url).items():
            if name.startswith("AWS_"):
                monkeypatch.setenv(name, value)
        yield Site(emulator.url)


def assembly(folder: Path, **context: str) -> str:
    environment = {
        **synthesis_environment(PROJECT_ROOT),
        "CDK_OUTDIR": str(folder),
        "CDK_CONTEXT_JSON": json.dumps({"stage": "local", **context}),
    }
    subprocess.run(
        [sys.executable, "app.py"], cwd=PROJECT_ROOT, env={**os.environ, **environment}, check=True
    )
    return str(folder)


def make_a_thumbnail(api: ImageApi, key: str) -> str:
    """The job's URL, once its thumbnail can be fetched."""
    accepted = api.post_image(SAMPLE.read_bytes(), key=key, content_type="image/jpeg")
    assert accepted.status == 202, accepted.text
    url = f"{api.base_url}/jobs/{accepted.json()['job_id']}"
    job = follow(api, url, patience_seconds=PATIENCE_SECONDS, interval_seconds=0.3)
    assert job.status == "SUCCEEDED", job.problem
    return url


def test_a_stage_comes_changes_goes_and_comes_again(site: Site, tmp_path: Path) -> None:
    account = caller_account(site.session())
    assert (account.number, account.region) == (ACCOUNT, REGION)
    with pytest.raises(DeployError, match="is not prepared for CDK"):
        check_bootstrap(site.session(), account)
    first = assembly(tmp_path / "first")
    site.cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", first)
    check_bootstrap(site.session(), account)
    empty = site.what_is_there()

    deploy(site, first)
    outputs = site.outputs()
    with site.api() as api:
        job_url = make_a_thumbnail(api, "before-the-update")

    deploy(site, assembly(tmp_path / "second", **{"alarm-email": ADDRESS}))
    assert site.outputs() == outputs, "an update in place replaces nothing that has a name"
    assert subscribers(site, outputs["AlarmTopicArn"]) == [ADDRESS]
    with site.api() as api:
        assert api.get(job_url).json()["status"] == "SUCCEEDED"
        make_a_thumbnail(api, "after-the-update")

    destroy(site, first, account, outputs["BucketName"])
    assert site.what_is_there() == empty
    assert stack_outputs(site.session(), STACK) is None

    deploy(site, first)
    with site.api() as api:
        make_a_thumbnail(api, "in-a-second-life")


def deploy(site: Site, app: str) -> None:
    site.cdk("deploy", STACK, "--app", app, "--require-approval", "never", "--progress", "events")


def destroy(site: Site, app: str, account: Account, bucket: str) -> None:
    """What `make destroy` does, for a stage that it does not let anybody choose."""
    assert account.number == ACCOUNT
    assert empty_bucket(site.session(), bucket) == 4
    site.cdk("destroy", STACK, "--app", app, "--force")


def subscribers(site: Site, topic: str) -> list[str]:
    answer = site.client("sns").list_subscriptions_by_topic(TopicArn=topic)
    return _names(answer["Subscriptions"], "Endpoint")
