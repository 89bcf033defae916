"""Each transition against every state of a row, in DynamoDB's words and in the twin's: one protocol."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Backend
from tests.unit.domain.test_transitions import BASE, STATES, TABLE
from thumbline.domain.job import Job
from thumbline.domain.transition import TransitionRefusedError, apply

JOB_ID = BASE["job_id"]


@pytest.mark.parametrize("name", sorted(set(TABLE) - {"purge"}))
def test_a_transition_does_the_same_in_both(backend: Backend, name: str) -> None:
    """Where it holds the row after it is the rule's own; where it does not, the refusal shows the row."""
    make, allowed = TABLE[name]
    for state, row in STATES.items():
        backend.put_row(row)
        transition = make()
        if state in allowed:
            expected = Job.from_row(apply(transition, row))
            assert backend.jobs.apply(JOB_ID, transition) == expected, state
            assert backend.jobs.get(JOB_ID) == expected, state
            assert backend.jobs.apply(JOB_ID, transition) == expected, f"{state}, heard twice"
        else:
            with pytest.raises(TransitionRefusedError) as refused:
                backend.jobs.apply(JOB_ID, transition)
            assert refused.value.job == Job.from_row(row), state


def test_a_purge_does_the_same_in_both(backend: Backend) -> None:
    make, allowed = TABLE["purge"]
    for state, row in STATES.items():
        backend.put_row(row)
        assert backend.jobs.purge(JOB_ID, make()) is (state in allowed), state
        assert (backend.jobs.get(JOB_ID) is None) is (state in allowed), state
