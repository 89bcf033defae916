"""Whatever says that the main path was not enough is a metric of the function where it happens."""

from __future__ import annotations

import pytest

from functions.job_reconciler import handler as reconciler
from functions.thumbnail_worker import handler as worker
from thumbline.service.reconcile.reconciler import Healed
from thumbline.service.worker import Outcome


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.BOUNCED,
        Outcome.UNREADABLE,
        Outcome.LOST,
        Outcome.FENCED,
        Outcome.SKIPPED,
        Outcome.BROKEN,
    ],
)
def test_bounces_lost_leases_and_rejected_fences_are_metrics(outcome: Outcome) -> None:
    assert any(outcome in outcomes for outcomes in worker._METRICS.values())


@pytest.mark.parametrize(
    "healed",
    [
        Healed.REPUBLISHED,
        Healed.RESCUED,
        Healed.REQUEUED,
        Healed.EXHAUSTED,
        Healed.EXPIRED,
        Healed.OWED_AGAIN,
        Healed.UNPUBLISHED,
        Healed.FAILED,
        Healed.BROKEN,
    ],
)
def test_rescues_are_metrics(healed: Healed) -> None:
    assert any(healed in counted for counted in reconciler._METRICS.values())
