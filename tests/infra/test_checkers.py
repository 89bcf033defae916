"""The strictest public checkers find nothing that is not accepted beside its construct, with a reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.infra.synthesis import Finding, Synthesis

DEPLOYED = ("Thumbline-Dev/", "Thumbline-Prod/")
"""The local stage is open on purpose, and nobody deploys it."""

# W3005: CDK makes each function depend on its role, which the reference to the role implies.
NOISE = ("W3005",)


def _covers(accepted: Finding, finding: Finding) -> bool:
    return finding.rule == accepted.rule and f"{finding.path}/".startswith(f"{accepted.path}/")


def _deployed(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.path.startswith(DEPLOYED)]


def test_cdk_nag_finds_nothing_that_is_not_accepted(synthesis: Synthesis) -> None:
    packs = {finding.rule.partition("::")[0] for finding in synthesis.findings}
    unaccepted = [
        finding
        for finding in _deployed(synthesis.findings)
        if not any(_covers(accepted, finding) for accepted in synthesis.acknowledged)
    ]

    assert {"AwsSolutions", "Serverless"} <= packs, "the checkers did not run"
    assert unaccepted == []


def test_nothing_is_accepted_that_no_checker_finds(synthesis: Synthesis) -> None:
    needless = [
        accepted
        for accepted in _deployed(list(synthesis.acknowledged))
        if not any(_covers(accepted, finding) for finding in synthesis.findings)
    ]

    assert needless == []


def test_every_reason_says_something(synthesis: Synthesis) -> None:
    short = {finding: reason for finding, reason in synthesis.acknowledged.items() if len(reason.split()) < 6}

    assert short == {}


def test_cdks_own_checks_find_nothing_in_any_stage(synthesis: Synthesis) -> None:
    packs = ("AwsSolutions::", "Serverless::")

    assert [finding for finding in synthesis.findings if not finding.rule.startswith(packs)] == []


def test_cfn_lint_finds_nothing_in_any_stage(synthesis: Synthesis) -> None:
    files = sorted(map(str, synthesis.folder.glob("*.template.json")))

    run = subprocess.run(
        [
            *(
                Path(sys.executable).with_name("cfn-lint"),
                "--format",
                "json",
                "--regions",
                "us-east-1",
                "eu-central-1",
            ),
            *("--ignore-checks", *NOISE, "--template", *files),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert len(files) == 3
    assert [
        (found["Rule"]["Id"], found["Message"], found["Location"]["Path"]) for found in json.loads(run.stdout)
    ] == []
