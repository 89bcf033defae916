"""The main job with the emulator's IAM evaluation on: each function runs under its role, and nothing else.

Three of the emulator's faults are taken out of the template beforehand: it has no TLS, so policies that
deny plain HTTP would deny everything; it asks for batch actions that AWS does not have; and it does not let
CDK's roles reach CDK's own bucket, so the deployment goes without them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.site import STACK, Site, assembly, fresh_site, make_a_thumbnail
from tools.demo.pictures import SAMPLE
from tools.local import emulator
from tools.local.environment import emulator_environment

BATCHES = {
    "sqs:SendMessage": "sqs:SendMessageBatch",
    "sqs:ChangeMessageVisibility": "sqs:ChangeMessageVisibilityBatch",
}
TLS_ONLY = ("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy")
CDK_ROLES = ("assumeRoleArn", "assumeRoleExternalId", "cloudFormationExecutionRoleArn", "lookupRole")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    def evaluating(port: int, temporary: Path) -> dict[str, str]:
        return {**emulator_environment(port, temporary), "AUTH": "true"}

    monkeypatch.setattr(emulator, "emulator_environment", evaluating)
    with fresh_site(tmp_path / "state", monkeypatch) as site:
        yield site


def test_every_role_suffices_and_is_needed(site: Site, tmp_path: Path) -> None:
    app = assembly(tmp_path / "assembly")
    _without_the_emulators_faults(Path(app))
    site.bootstrap(app)
    site.deploy(app)

    with site.api() as api:
        make_a_thumbnail(api, "within-the-roles")
        _take_from_the_role(site, site.outputs()["IngestApiFunctionName"], "dynamodb:PutItem")
        refused = api.post_image(SAMPLE.read_bytes(), key="beyond-the-role", content_type="image/jpeg")

    assert refused.status == 503, "the evaluation is off"


def _without_the_emulators_faults(folder: Path) -> None:
    for file in (folder / "manifest.json", folder / f"{STACK}.assets.json"):
        _rewrite(file, _without_cdk_roles)
    _rewrite(folder / f"{STACK}.template.json", _adapted)


def _rewrite(file: Path, change: Any) -> None:
    file.write_text(json.dumps(change(json.loads(file.read_text()))))


def _without_cdk_roles(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _without_cdk_roles(value) for name, value in part.items() if name not in CDK_ROLES}
    return [_without_cdk_roles(value) for value in part] if isinstance(part, list) else part


def _adapted(template: dict[str, Any]) -> dict[str, Any]:
    kept = {name: found for name, found in template["Resources"].items() if found["Type"] not in TLS_ONLY}
    for resource in kept.values():
        needed = resource.pop("DependsOn", [])
        needed = [name for name in ([needed] if isinstance(needed, str) else needed) if name in kept]
        if needed:
            resource["DependsOn"] = needed
        for policy in resource["Properties"].get("Policies", []) if "Properties" in resource else []:
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = _each(statement["Action"])
                statement["Action"] = actions + [BATCHES[action] for action in actions if action in BATCHES]
    return {**template, "Resources": kept}


def _take_from_the_role(site: Site, function: str, action: str) -> None:
    iam = site.client("iam")
    role = site.client("lambda").get_function_configuration(FunctionName=function)["Role"].rpartition("/")[2]
    document = iam.get_role_policy(RoleName=role, PolicyName="operations")["PolicyDocument"]
    for statement in document["Statement"]:
        statement["Action"] = [found for found in _each(statement["Action"]) if found != action]
    document["Statement"] = [statement for statement in document["Statement"] if statement["Action"]]
    iam.put_role_policy(RoleName=role, PolicyName="operations", PolicyDocument=json.dumps(document))


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
