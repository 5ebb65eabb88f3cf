"""What the SQL benchmarks ask: counts and a sum over joins of one to four tables, all of them private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BUDGETS = {"bench": {"epsilon": 1_000_000}}
TPCH_POLICY: dict[str, Any] = {
    "version": 1,
    "dataset": "tpch",
    "tables": {
        "customer": {},
        "lineitem": {
            "columns": {
                "l_quantity": {"bounds": [0, 50], "granularity": 1},
                "l_returnflag": {"domain": ["A", "N", "R"]},
            }
        },
        "orders": {
            "columns": {
                "o_orderpriority": {
                    "domain": ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"],
                },
                "o_totalprice": {"bounds": [0, 600000], "granularity": 1},
            }
        },
        "part": {},
        "partsupp": {},
        "supplier": {},
    },
    "budgets": BUDGETS,
}
GRAPH_POLICY: dict[str, Any] = {
    "version": 1,
    "dataset": "facebook",
    "tables": {"edge": {}},
    "budgets": BUDGETS,
}
TRIANGLE_POLICY: dict[str, Any] = {
    "version": 1,
    "dataset": "triangles",
    "tables": {"r": {}, "s": {}, "u": {}},
    "budgets": BUDGETS,
}
# Primary keys of TPC-H: the owner's promise about every database.
TPCH_KEYS = {
    "customer": ["c_custkey"],
    "orders": ["o_orderkey"],
    "part": ["p_partkey"],
    "partsupp": ["ps_partkey", "ps_suppkey"],
    "supplier": ["s_suppkey"],
}


def with_keys(policy: dict[str, Any]) -> dict[str, Any]:
    """The same with the primary keys of TPC-H enforced."""
    tables = {
        name: table | ({"key": {"columns": TPCH_KEYS[name], "enforced": True}} if name in TPCH_KEYS else {})
        for name, table in policy["tables"].items()
    }
    return policy | {"tables": tables}


# By the names of the files.
POLICIES = {
    "tpch": TPCH_POLICY,
    "facebook": GRAPH_POLICY,
    "dangling": TRIANGLE_POLICY,
    "scattered": TRIANGLE_POLICY,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A name for the tables, how many occurrences are joined, and the SQL."""

    name: str
    tables: int
    sql: str


TPCH = (
    Question(
        "lineitem",
        1,
        """SELECT COUNT(*) FROM lineitem
           WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_quantity < 24""",
    ),
    Question(
        "customer ⋈ orders",
        2,
        """SELECT COUNT(*) FROM customer, orders
           WHERE c_custkey = o_custkey AND c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15'""",
    ),
    Question(
        "orders ⋈ lineitem",
        2,
        """SELECT COUNT(*) FROM orders, lineitem
           WHERE o_orderkey = l_orderkey AND o_orderdate >= DATE '1993-07-01'
             AND o_orderdate < DATE '1993-10-01' AND l_commitdate < l_receiptdate""",
    ),
    Question(
        "orders ⋈ lineitem, SUM(l_quantity)",
        2,
        """SELECT SUM(l_quantity) FROM orders, lineitem
           WHERE o_orderkey = l_orderkey AND o_orderpriority = '1-URGENT'
             AND l_shipdate > DATE '1995-03-15'""",
    ),
    Question(
        "orders ⋈ orders (pairs of one customer)",
        2,
        """SELECT COUNT(*) FROM orders o, orders p
           WHERE o.o_custkey = p.o_custkey AND o.o_orderdate < p.o_orderdate
             AND o.o_orderstatus = 'F' AND p.o_orderstatus = 'O'""",
    ),
    Question(
        "customer ⋈ orders ⋈ lineitem",
        3,
        """SELECT COUNT(*) FROM customer, orders, lineitem
           WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND c_mktsegment = 'BUILDING'
             AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'""",
    ),
    Question(
        "supplier ⋈ partsupp ⋈ part",
        3,
        """SELECT COUNT(*) FROM supplier, partsupp, part
           WHERE s_suppkey = ps_suppkey AND p_partkey = ps_partkey AND p_size < 15 AND s_acctbal > 0""",
    ),
    Question(
        "part ⋈ lineitem ⋈ partsupp (two columns)",
        3,
        """SELECT COUNT(*) FROM part, lineitem, partsupp
           WHERE p_partkey = l_partkey AND ps_partkey = l_partkey AND ps_suppkey = l_suppkey
             AND p_size < 15 AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'""",
    ),
    Question(
        "orders ⋈ lineitem ⋈ lineitem (two suppliers)",
        3,
        """SELECT COUNT(*) FROM orders, lineitem l, lineitem m
           WHERE o_orderkey = l.l_orderkey AND m.l_orderkey = l.l_orderkey AND l.l_suppkey <> m.l_suppkey
             AND o_orderstatus = 'F' AND l.l_receiptdate > l.l_commitdate""",
    ),
    Question(
        "customer ⋈ orders ⋈ lineitem ⋈ supplier (one nation)",
        4,
        """SELECT COUNT(*) FROM customer, orders, lineitem, supplier
           WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
             AND c_nationkey = s_nationkey AND o_orderdate >= DATE '1994-01-01'
             AND o_orderdate < DATE '1995-01-01'""",
    ),
    Question(
        "customer ⋈ orders ⋈ lineitem ⋈ part",
        4,
        """SELECT COUNT(*) FROM customer, orders, lineitem, part
           WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND l_partkey = p_partkey
             AND p_size < 15 AND c_acctbal > 0 AND o_orderdate < DATE '1995-03-15'""",
    ),
)

GRAPH = (
    Question("path of 2 edges", 2, "SELECT COUNT(*) FROM edge a, edge b WHERE a.target = b.source"),
    Question(
        "path of 3 edges",
        3,
        "SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.target = b.source AND b.target = c.source",
    ),
    Question(
        "triangle",
        3,
        """SELECT COUNT(*) FROM edge a, edge b, edge c
           WHERE a.target = b.source AND b.target = c.source AND c.target = a.source""",
    ),
    Question(
        "rectangle",
        4,
        """SELECT COUNT(*) FROM edge a, edge b, edge c, edge d
           WHERE a.target = b.source AND b.target = c.source AND c.target = d.source
             AND d.target = a.source""",
    ),
)

TRIANGLE = Question(
    "triangle join", 3, "SELECT COUNT(*) FROM r, s, u WHERE r.a = s.a AND r.b = u.b AND s.c = u.c"
)

# Where noise for the data at hand buys little, or nothing.
LIMITS = (
    Question("one table", 1, "SELECT COUNT(*) FROM orders WHERE o_orderstatus = 'F'"),
    Question(
        "one table, 5 groups",
        1,
        "SELECT o_orderpriority, COUNT(*) FROM orders GROUP BY o_orderpriority",
    ),
    Question("two tables", 2, "SELECT COUNT(*) FROM orders, lineitem WHERE o_orderkey = l_orderkey"),
    Question(
        "two tables, 5 groups",
        2,
        """SELECT o_orderpriority, COUNT(*) FROM orders, lineitem WHERE o_orderkey = l_orderkey
           GROUP BY o_orderpriority""",
    ),
    Question(
        "two tables, 15 groups",
        2,
        """SELECT o_orderpriority, l_returnflag, COUNT(*) FROM orders, lineitem WHERE o_orderkey = l_orderkey
           GROUP BY o_orderpriority, l_returnflag""",
    ),
)
