"""Reads a synthesized template: resources by type or by their place in the construct tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Template:
    body: dict[str, Any]

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """Logical id -> the whole resource."""
        return {name: found for name, found in self.body["Resources"].items() if found["Type"] == kind}

    def one(self, kind: str, prefix: str) -> dict[str, Any]:
        """The properties of the single resource of this type whose logical id starts like this."""
        found = self.named(kind, prefix)
        properties: dict[str, Any] = self.body["Resources"][found]["Properties"]
        return properties

    def named(self, kind: str, prefix: str) -> str:
        names = [name for name in self.of_type(kind) if name.startswith(prefix)]
        assert len(names) == 1, f"{kind} {prefix}*: {names}"
        return names[0]

    def arn_of(self, kind: str, prefix: str) -> dict[str, Any]:
        return {"Fn::GetAtt": [self.named(kind, prefix), "Arn"]}

    def statements(self, function: str) -> list[dict[str, Any]]:
        """What the role of a function allows."""
        (policy,) = self.one("AWS::IAM::Role", f"{function}Role")["Policies"]
        statements: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
        return statements

    def actions(self, function: str) -> set[str]:
        allowed: set[str] = set()
        for statement in self.statements(function):
            actions = statement["Action"]
            allowed |= {actions} if isinstance(actions, str) else set(actions)
        return allowed
