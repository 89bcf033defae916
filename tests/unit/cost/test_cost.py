"""docs/cost.md says what the price file and the counts of usage give."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from tools.cost.prices import PRICES, Item, Prices
from tools.cost.tables import tables
from tools.cost.usage import a_job, a_stored_month, an_idle_month

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_holds_the_tables() -> None:
    assert tables(Prices.read()) in (ROOT / "docs" / "cost.md").read_text()


def test_the_readme_rounds_the_same_sums() -> None:
    prices = Prices.read()
    million_jobs = sum(item.usd(prices) for item in a_job()) * 1_000_000
    idle_month = sum(item.usd(prices) for item in an_idle_month())
    readme = (ROOT / "README.md").read_text()

    assert f"about {million_jobs:.0f} USD per million jobs" in readme
    assert f"{idle_month:.0f} a month when idle" in readme


def test_the_prices_have_a_date_and_each_is_used() -> None:
    prices = Prices.read()
    used = {item.price for item in [*a_job(), *a_stored_month(), *an_idle_month()]}

    assert date.fromisoformat(prices.date) > date(2026, 1, 1)
    assert used == set(prices.usd)


def test_a_price_is_for_so_many_units(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    price = {"x": {"per": 1_000, "usd": 0.5}}
    file.write_text(json.dumps({"date": "2026-01-01", "region": "r", "prices": price}))

    assert Item("x", 3, "why").usd(Prices.read(file)) == 0.0015
    assert PRICES.is_file()


def test_alarms_are_paid_by_metric() -> None:
    template = json.loads((ROOT / "tests" / "infra" / "golden" / "prod.json").read_text())
    alarms = [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    ]
    metrics = sum(
        len([part for part in alarm["Metrics"] if "MetricStat" in part]) if "Metrics" in alarm else 1
        for alarm in alarms
    )

    (paid,) = (item for item in an_idle_month() if item.price == "cloudwatch_alarm_metric_month")
    assert paid.units == metrics
    assert paid.reason.startswith(f"{len(alarms)} alarms")
