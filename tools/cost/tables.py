"""The tables of docs/cost.md."""

from __future__ import annotations

from collections.abc import Sequence

from tools.cost.prices import Item, Prices
from tools.cost.usage import a_job, a_stored_month, an_idle_month

MILLION = 1_000_000


def tables(prices: Prices) -> str:
    sections = [
        ("A million jobs", a_job(), MILLION),
        ("Keeping a million jobs for a month", a_stored_month(), MILLION),
        ("An idle month", an_idle_month(), 1),
    ]
    return "\n".join(_table(title, items, times, prices) for title, items, times in sections)


def _table(title: str, items: Sequence[Item], times: int, prices: Prices) -> str:
    rows = [
        f"| {item.price} | {item.units * times:,.0f} | {item.usd(prices) * times:,.2f} | {item.reason} |"
        for item in items
    ]
    total = sum(item.usd(prices) for item in items) * times
    return "\n".join(
        [
            f"## {title}: {total:,.2f} USD",
            "",
            f"| price ({prices.region}, {prices.date}) | units | USD | why |",
            "|---|---:|---:|---|",
            *rows,
            "",
        ]
    )
