"""An emulator as a fresh account: what deployment tools do there, and what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.e2e.conftest import PATIENCE_SECONDS
from tools.client import ImageApi, follow
from tools.demo.pictures import SAMPLE
from tools.deploy.account import stack_outputs
from tools.deploy.cdk import run_cdk
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

    def bootstrap(self, app: str) -> None:
        self.cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", app)

    def deploy(self, app: str) -> None:
        self.cdk("deploy", STACK, "--app", app, "--require-approval", "never", "--progress", "events")

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


@contextmanager
def fresh_site(state: Path, patch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Its credentials and endpoint are those of the environment, too, while the block lasts."""
    paths = Paths(project=PROJECT_ROOT, state=state)
    ledger = Ledger(paths)
    ledger.open()
    with ExitStack() as cleanup:
        cleanup.callback(ledger.close)
        emulator = Emulator.start(paths, ledger)
        cleanup.callback(emulator.stop)
        emulator.wait_until_healthy()
        for name, value in emulator_client_environment(emulator.url).items():
            if name.startswith("AWS_"):
                patch.setenv(name, value)
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
