"""The dated price file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PRICES = Path(__file__).resolve().parents[2] / "docs" / "prices.json"


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars a unit, before free tiers."""

    date: str
    region: str
    usd: Mapping[str, float]

    @classmethod
    def read(cls, file: Path = PRICES) -> Prices:
        document = json.loads(file.read_text())
        usd = {name: price["usd"] / price["per"] for name, price in document["prices"].items()}
        return cls(document["date"], document["region"], usd)


@dataclass(frozen=True, slots=True)
class Item:
    """So many units of one price, and why so many."""

    price: str
    units: float
    reason: str

    def usd(self, prices: Prices) -> float:
        return self.units * prices.usd[self.price]
