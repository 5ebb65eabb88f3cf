"""Six questions about whole units of TPC-H, as R2T asks them, and the policies that say who the units are.

Nobody's number of rows is declared; ``most_per_unit`` is R2T's global sensitivity. Keys are promised, since the files
that tpchgen-cli writes declare none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EPSILON = 0.8
MOST = 10**6
_BUDGETS = {"bench": {"epsilon": 1_000_000}}
_LINES = {"columns": {"l_quantity": {"bounds": [0, 50], "granularity": 1}}}


def _key(column: str) -> dict[str, Any]:
    return {"key": {"columns": column, "enforced": True}}


def _policy(users: list[str], tables: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "dataset": "tpch",
        "protects": "user",
        "users": users,
        "most_per_unit": MOST,
        "tables": tables,
        "budgets": _BUDGETS,
    }


_ORDERS = {**_key("o_orderkey"), "foreign_keys": {"o_custkey": "customer.c_custkey"}}
UNIT_POLICIES = {
    "customers": _policy(
        ["customer.c_custkey"],
        {
            "customer": _key("c_custkey"),
            "orders": _ORDERS,
            "lineitem": {**_LINES, "foreign_keys": {"l_orderkey": "orders.o_orderkey"}},
        },
    ),
    "orders": _policy(
        ["orders.o_orderkey"],
        {
            "orders": _key("o_orderkey"),
            "lineitem": {**_LINES, "foreign_keys": {"l_orderkey": "orders.o_orderkey"}},
        },
    ),
    "customers and suppliers": _policy(
        ["customer.c_custkey", "supplier.s_suppkey"],
        {
            "customer": _key("c_custkey"),
            "supplier": _key("s_suppkey"),
            "orders": _ORDERS,
            "lineitem": {
                **_LINES,
                "foreign_keys": {"l_orderkey": "orders.o_orderkey", "l_suppkey": "supplier.s_suppkey"},
            },
        },
    ),
}


@dataclass(frozen=True, slots=True)
class UnitQuestion:
    """What is added over which joined rows, and the columns of their owners."""

    name: str
    units: str
    owners: tuple[str, ...]
    measure: str
    joined: str

    @property
    def sql(self) -> str:
        """As it is asked."""
        return f"SELECT {self.measure} AS n FROM {self.joined}"

    @property
    def grouped(self) -> str:
        """The plain query by owner: what a private answer has to be compared with."""
        owners = ", ".join(self.owners)
        return f"SELECT {owners}, {self.measure} AS n FROM {self.joined} GROUP BY {owners}"


_LINES_OF_CUSTOMERS = "customer, orders, lineitem WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey"
_ALL_FOUR = (
    "customer, orders, lineitem, supplier "
    "WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND l_suppkey = s_suppkey"
)
QUESTIONS = (
    UnitQuestion(
        "Q3",
        "customers",
        ("c_custkey",),
        "COUNT(*)",
        f"{_LINES_OF_CUSTOMERS} AND o_orderdate < DATE '1997-01-01' AND l_shipdate > DATE '1994-01-01'",
    ),
    UnitQuestion(
        "Q10", "customers", ("c_custkey",), "COUNT(*)", "customer, orders WHERE c_custkey = o_custkey"
    ),
    UnitQuestion(
        "Q12", "orders", ("o_orderkey",), "COUNT(*)", "orders, lineitem WHERE o_orderkey = l_orderkey"
    ),
    UnitQuestion("Q18", "customers", ("c_custkey",), "SUM(l_quantity)", _LINES_OF_CUSTOMERS),
    UnitQuestion(
        "Q5",
        "customers and suppliers",
        ("c_custkey", "s_suppkey"),
        "COUNT(*)",
        f"{_ALL_FOUR} AND c_nationkey = s_nationkey",
    ),
    UnitQuestion(
        "Q8",
        "customers and suppliers",
        ("c_custkey", "s_suppkey"),
        "COUNT(*)",
        f"{_ALL_FOUR} AND o_orderdate >= DATE '1995-01-01' AND o_orderdate < DATE '1997-01-01'",
    ),
)
