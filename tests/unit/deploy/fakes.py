"""An AWS account as a handful of answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "Operation")


@dataclass
class FakeClient:
    """Answers each operation from `answers`; an exception there is raised."""

    answers: dict[str, Any]
    calls: list[tuple[str, dict[str, Any]]]

    def __getattr__(self, operation: str) -> Any:
        def call(**arguments: Any) -> Any:
            self.calls.append((operation, arguments))
            answer = self.answers[operation]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


@dataclass
class FakeSession:
    answers: dict[str, Any] = field(default_factory=dict)
    region_name: str | None = "eu-central-1"
    credentials: object | None = "credentials"
    identity: str = "iam"
    """Of the stack that is deployed."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answers = {
            "get_caller_identity": {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:user/ada"},
            "get_parameter": {"Parameter": {"Value": "31"}},
            "describe_stacks": {
                "Stacks": [
                    {
                        "Outputs": [
                            {"OutputKey": "ApiUrl", "OutputValue": "https://api.example/v1"},
                            {"OutputKey": "BucketName", "OutputValue": "bucket"},
                            {"OutputKey": "Identity", "OutputValue": self.identity},
                        ]
                    }
                ]
            },
            **self.answers,
        }

    def get_credentials(self) -> object | None:
        return self.credentials

    def client(self, _service: str) -> FakeClient:
        return FakeClient(self.answers, self.calls)
