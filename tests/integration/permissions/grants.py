"""What the roles of the template allow, in the same words as what the functions ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.integration.permissions.recorder import Permission

GOLDEN = Path(__file__).parents[2] / "infra" / "golden" / "prod.json"
"""Held to be what is synthesized by tests/infra/test_golden.py."""

FUNCTIONS = ("IngestApi", "OutboxRelay", "ThumbnailWorker", "JobReconciler")
RESOURCES = {
    "TablesJobs": "jobs",
    "TablesIdempotency": "idempotency",
    "TablesAccess": "access",
    "BucketImages": "bucket",
    "QueuesWork": "work",
    "QueuesUndelivered": "undelivered",
    "QueuesDeadLetter": "dead",
    "QueuesRelayFailure": "relay-failures",
}
"""Logical id, without its hash -> the name in the tests."""


def read_template() -> dict[str, Any]:
    template: dict[str, Any] = json.loads(GOLDEN.read_text())
    return template


def statements(template: Mapping[str, Any], function: str) -> list[dict[str, Any]]:
    (role,) = (
        resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Role" and name.startswith(f"{function}Role")
    )
    (policy,) = role["Policies"]
    found: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    return found


def granted(template: Mapping[str, Any], function: str) -> set[Permission]:
    return {
        Permission(action, _name(resource))
        for statement in statements(template, function)
        for action in _each(statement["Action"])
        for resource in _each(statement["Resource"])
    }


def _each(value: Any) -> Iterator[Any]:
    yield from value if isinstance(value, list) else [value]


def _name(resource: Any) -> str:
    match resource:
        case str():
            return resource
        case {"Fn::GetAtt": [name, "StreamArn"]}:
            assert name.startswith("TablesJobs")
            return "stream"
        case {"Fn::GetAtt": [name, "Arn"]}:
            return "own logs" if name[:-8].endswith("Logs") else RESOURCES[name[:-8]]
        case {"Fn::Join": ["", [{"Fn::GetAtt": [name, "Arn"]}, tail]]}:
            return f"{RESOURCES[name[:-8]]}{tail}"
    raise LookupError(f"what is {resource}?")
