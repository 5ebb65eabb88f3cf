"""What the solver finds: known cases with time and size of the formula, and the noise of TPC-H questions with keys."""

from __future__ import annotations

import json
from typing import Any

from report import ROOT, Check, Report
from sql_data import tpch
from sql_questions import TPCH, TPCH_POLICY, Question

import sordino as sd

SCALE = "0.01"
EPSILON = 1
GOLDEN = ROOT / "tests" / "golden" / "solver.json"
KEYS = {
    "customer": ["c_custkey"],
    "lineitem": ["l_orderkey", "l_linenumber"],
    "orders": ["o_orderkey"],
    "part": ["p_partkey"],
    "partsupp": ["ps_partkey", "ps_suppkey"],
    "supplier": ["s_suppkey"],
}
CHECKS = {"lineitem": ["l_linenumber >= 1", "l_linenumber <= 7", "l_linenumber IS NOT NULL"]}
OTHERS = ["patterns", "residual", "elastic"]
WITHOUT_REPEATS = (
    Question("customers with an order", 2, "SELECT COUNT(*) FROM (SELECT DISTINCT o_custkey FROM orders)"),
    Question(
        "segments × priorities of the first five orders",
        2,
        "SELECT COUNT(*) FROM (SELECT DISTINCT c_mktsegment, o_orderpriority FROM customer, orders "
        "WHERE c_custkey = o_custkey AND o_orderkey BETWEEN 1 AND 5)",
    ),
    Question(
        "customers without an order",
        2,
        "SELECT COUNT(*) FROM (SELECT c_custkey FROM customer EXCEPT SELECT o_custkey FROM orders)",
    ),
    Question(
        "parts that are supplied and ordered",
        2,
        "SELECT COUNT(*) FROM (SELECT ps_partkey FROM partsupp INTERSECT SELECT l_partkey FROM lineitem)",
    ),
    Question(
        "orders with a late line",
        2,
        "SELECT COUNT(*) FROM (SELECT DISTINCT o_orderkey FROM orders, lineitem "
        "WHERE o_orderkey = l_orderkey AND l_commitdate < l_receiptdate)",
    ),
)


def run(quick: bool = False) -> list[Report]:
    return [_goldens(), *_tpch(SCALE)]


def _goldens() -> Report:
    cases = json.loads(GOLDEN.read_text())["cases"]
    rows, slowest, right = [], 0.0, True
    for case in cases:
        found = sd.sql.sensitivity(case["sql"], case["schema"], timeout=60)
        for table, one in found.items():
            expected = case.get("groups", case["rows"])[table]
            right &= (str(one) == "unbounded") if expected == "unbounded" else one.value == expected
            slowest = max(slowest, one.seconds)
            counted = f"{one} groups, {one.rows} rows" if one.counted == "groups" else str(one)
            rows.append([f"`{case['sql']}`", table, counted, f"{one.seconds:.2f}", str(one.size)])
    checks = [
        Check("every number is the known one", f"{len(rows)} numbers", right),
        Check("none takes longer than 5 s", f"{slowest:.2f} s", slowest < 5),
    ]
    return Report(
        "solver-goldens", ["query", "table", "one row changes", "seconds", "assertions"], rows, checks
    )


def _tpch(scale: str) -> list[Report]:
    plain = TPCH_POLICY
    tables = {
        name: {
            **table,
            "key": {"columns": KEYS[name], "enforced": True},
            **({"check": CHECKS[name]} if name in CHECKS else {}),
        }
        for name, table in plain["tables"].items()
    }
    keyed = plain | {"tables": tables}
    url = f"duckdb://{tpch(scale)}"
    joins = [question for question in TPCH if question.tables > 1]
    with sd.connect(url, policy=plain) as curator:
        before = [_number(curator, question.sql, OTHERS) for question in joins]
    rows, never_larger = [], True
    with sd.connect(url, policy=keyed) as after:
        for question, plainly in zip(joins, before, strict=True):
            others, everything = (_number(after, question.sql, names) for names in (OTHERS, None))
            never_larger &= everything["error"]["95%"] <= others["error"]["95%"] * (1 + 1e-9)
            limits = _limits(everything)
            alone = (
                "–" if "none" in limits else f"{_number(after, question.sql, ['solver'])['error']['95%']:.4g}"
            )
            errors = [f"{one['error']['95%']:.4g}" for one in (plainly, others, everything)]
            rows.append([question.name, f"{plainly['exact']:.4g}", *errors, alone, limits])
        counted = []
        for question in WITHOUT_REPEATS:
            number = _number(after, question.sql, None)
            counted.append(
                [question.name, f"{number['exact']:.6g}", f"{number['error']['95%']:.4g}", _limits(number)]
            )
    header = [
        "question",
        "exact",
        "no keys",
        "keys, other analyses",
        "keys, all analyses",
        "solver alone",
        "limits",
    ]
    check = Check("never more noise than without the solver", f"{len(rows)} questions", never_larger)
    return [
        Report("solver-tpch", header, rows, [check]),
        Report("solver-tpch-counted", ["rows without repeats", "exact", "error", "one row changes"], counted),
    ]


def _number(curator: sd.Curator, sql: str, analyses: list[str] | None) -> dict[str, Any]:
    facts = curator.explain(sql, EPSILON, analyses=analyses).reveal()
    number: dict[str, Any] = facts["numbers"][0]
    return number


def _limits(number: dict[str, Any]) -> str:
    tables = dict.fromkeys(row["table"] for row in number["bounds"])
    found = {row["table"]: f"{row['local']:g}" for row in number["bounds"] if row["analysis"] == "solver"}
    return ", ".join(f"{table} {found.get(table, 'none')}" for table in tables)
