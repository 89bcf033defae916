"""How long the fuzzing goes on, and when it stops."""

from __future__ import annotations

from tools.fuzz_api.run import Run, fuzz

URL = "http://127.0.0.1:1/v1"


class Scripted:
    """Answers the runs in turn and takes down their seeds."""

    def __init__(self, *runs: Run) -> None:
        self.runs = list(runs)
        self.seeds: list[int] = []

    def __call__(self, url: str, seed: int) -> Run:
        assert url == URL
        self.seeds.append(seed)
        return self.runs.pop(0)


def test_it_goes_on_with_other_seeds_until_enough_cases_were_sent() -> None:
    runs = Scripted(Run(150, True, ""), Run(150, True, ""), Run(1, True, ""))
    outcome = fuzz(URL, 300, 7, runs)

    assert (outcome.cases, outcome.failed) == (300, None)
    assert runs.seeds == [7, 8]
    assert str(outcome) == "fuzz-api: 300 cases, no failure"


def test_the_first_failure_ends_it() -> None:
    failure = Run(40, False, "what failed")
    outcome = fuzz(URL, 300, 0, Scripted(Run(100, True, ""), failure, Run(1000, True, "")))

    assert outcome.failed is failure
    assert str(outcome) == "fuzz-api: 140 cases, FAILED"
