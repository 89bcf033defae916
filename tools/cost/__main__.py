"""`python -m tools.cost`: prints the tables of docs/cost.md."""

from tools.cost.prices import Prices
from tools.cost.tables import tables

if __name__ == "__main__":
    print(tables(Prices.read()))
