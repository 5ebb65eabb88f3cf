"""Small files to try every command on: public, made by fixed recipes without randomness."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from sordino.demo.data import CITIES, VOTES, salaries

SHOP_POLICY_TEXT = """\
version: 1
dataset: shop
protects: user       # each customer with all their rows, in every table
users: customers.id
tables:
  customers:
    columns:
      id: {type: integer}
      city: {type: text, domain: [Rome, Oslo, Lima]}    # the groups that may be asked for
  orders:
    foreign_keys: {customer: customers.id}              # who owns an order
    columns:
      customer: {type: integer}
      amount: {type: integer, bounds: [0, 100]}         # what a sum may count on
budgets:
  ann: {epsilon: 5}
  bob: {epsilon: 1}
cap: {epsilon: 8}    # for all analysts together
"""
_USERS = """\
protects: user       # each customer with all their rows, in every table
users: customers.id
"""
_OWNED = "    foreign_keys: {customer: customers.id}              # who owns an order\n"
SHOP_ROWS_POLICY_TEXT = SHOP_POLICY_TEXT.replace(
    _USERS, "protects: row        # each row of each private table by itself\n"
).replace(_OWNED, "")
PEOPLE_SCHEMA = {"age": {"bounds": [18, 90], "bins": 6}, "smoker": ["never", "former", "current"]}
_SMOKING = ("never", "never", "former", "current")


SHOP_WORKFLOW_TEXT = """\
inputs: {orders: row, customers: row}         # name: unit of distance
steps:
  join:   {from: [orders, customers], sensitivity: {orders: 1, customers: 12}}
  count:  {from: [join], sensitivity: {join: 1}}
  noisy:  {from: [count], epsilon: 0.1}        # ε per unit of count
  report: {from: [noisy], sensitivity: post-processing}
independent: [[orders, customers]]             # no single change touches both
release: [report]
"""


def write_example_files(folder: Path) -> list[Path]:
    """Write the files into a folder, which is made if it is not there; they replace their namesakes."""
    written = []
    for name, content in _contents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        written.append(path)
    return written


def find_example_files(folder: Path) -> list[Path] | None:
    """The files, where all of them are in the folder as they would be written; None otherwise."""
    for name, content in _contents().items():
        try:
            if (folder / name).read_text(encoding="utf-8") != content:
                return None
        except (OSError, UnicodeDecodeError):
            return None
    return [folder / name for name in _contents()]


def _contents() -> dict[str, str]:
    return {
        "shop/customers.csv": _csv("id,city", ((i, CITIES[i % len(CITIES)]) for i in range(300))),
        "shop/orders.csv": _csv("customer,amount", _orders(2000)),
        "shop.yaml": SHOP_POLICY_TEXT,
        "shop-rows.yaml": SHOP_ROWS_POLICY_TEXT,
        "shop-workflow.yaml": SHOP_WORKFLOW_TEXT,
        "log_correlation.yaml": files("sordino.demo")
        .joinpath("log_correlation.yaml")
        .read_text(encoding="utf-8"),
        "pay.csv": _csv("pay", ((f"{pay:.0f}",) for pay in salaries())),
        "votes.csv": _csv("name,votes", VOTES.items()),
        "friends.txt": "".join(f"{one} {two}\n" for one, two in _friends()),
        "people.csv": _csv("age,smoker,ill", _people(5000)),
        "people.json": json.dumps(PEOPLE_SCHEMA) + "\n",
    }


def _csv(header: str, rows: Iterable[Iterable[object]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def _orders(count: int) -> Iterable[tuple[int, int]]:
    """A few of the 300 customers have more orders than the others."""
    return ((int(300 * (i * 2**0.5 % 1) ** 1.2), 10 + i * 7 % 90) for i in range(count))


def _friends() -> Iterable[tuple[int, int]]:
    """Everybody knows two to four earlier people, mostly early ones, who so become hubs."""
    edges = {
        (node, int(node * ((node * root) % 1) ** 2))
        for node in range(1, 300)
        for root in (2**0.5, 3**0.5, 5**0.5, 7**0.5)[: 2 + node % 3]
    }
    return sorted(edges)


def _people(count: int) -> Iterable[tuple[int, str, str]]:
    """Current smokers and the old are ill more often; the third number of a person stands for chance."""
    for i in range(count):
        age, smoker, luck = 18 + i * 29 % 72, _SMOKING[i * 31 % 97 % 4], i * 61 % 100
        risk = 10 + 50 * (smoker == "current") + 30 * (age > 60)
        yield age, smoker, "yes" if luck < risk else "no"
