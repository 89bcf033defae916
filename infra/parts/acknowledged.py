"""Findings of the public checkers that are accepted, each with its reason, beside what it is about."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, findings: Mapping[str, str]) -> None:
    """`findings`: the rule's full name, such as `AwsSolutions::AwsSolutions-S1`, and why it is accepted.

    tests/infra/test_checkers.py fails on a finding that is not here, and on a reason that nothing needs.
    """
    for finding, reason in findings.items():
        Validations.of(construct).acknowledge(Acknowledgment(id=finding, reason=reason))
