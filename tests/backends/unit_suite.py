"""What owners add, as an engine counts it: equal to the definition, and moved by one owner no more than is said.

Tiny databases with everything that keys may do wrong: NULL, dangling, double. The statements themselves are run, on a
database and on each of its neighbours with one customer less.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from sordino.engines import Engine, Snapshot
from sordino.sql.policy import Policy
from sordino.sql.question import Statement
from sordino.sql.reading.read import read_public_keys, read_statement
from sordino.sql.units.contributions import PARTS, Sizes, count_sizes, sum_clipped
from sordino.sql.units.grouped_rows import find_all_owners
from sordino.sql.units.owners import Owners
from sordino.units import Truncation
from tests.oracles.units.contributions import contributions, truncated_sum, units_above
from tests.oracles.units.group_clipping import clip_euclidean, clipped_totals
from tests.oracles.units.left_joins import LeftJoin, left_joined_results
from tests.oracles.units.owners import Join, Schema, joined_results, neighbours

POLICY = """
version: 1
dataset: shop
protects: user
users: customers.id
tables:
  customers: {columns: {city: {domain: [a, b]}}}
  orders: {foreign_keys: {cid: customers.id}, columns: {amount: {bounds: [-3, 4]}, kind: {domain: [x, y]}}}
  items: {foreign_keys: {oid: orders.id}, columns: {q: {bounds: [0, 3]}}}
  kinds: {private: false}
"""
SCHEMA = Schema(
    {"customers": "id"},
    {"orders": {"cid": ("customers", "id")}, "items": {"oid": ("orders", "id")}},
    frozenset({"kinds"}),
)
COLUMNS = {
    "customers": {"id": [1, 2, 3, None], "city": ["a", "b", "c"]},
    "orders": {
        "id": [1, 2, 3, None],
        "cid": [1, 2, 3, 4, None],
        "amount": [-3, -1, 2, 4, None],
        "kind": ["x", "y", "z"],
    },
    "items": {"oid": [1, 2, 3, 4, None], "q": [0, 1, 3]},
    "kinds": {"kind": ["x", "y"], "name": ["p", "q"]},
}
TYPES = {"id": "INT", "cid": "INT", "oid": "INT", "amount": "INT", "q": "INT"}
CO = (("c", "id"), ("o", "cid"))
OI = (("o", "id"), ("i", "oid"))
QUESTIONS = {
    "SELECT COUNT(*) FROM customers c": Join({"c": "customers"}),
    "SELECT COUNT(*) FROM orders o": Join({"o": "orders"}),
    "SELECT SUM(amount) FROM orders o": Join({"o": "orders"}, weight=lambda rows: rows["o"]["amount"] or 0),
    "SELECT SUM(q) FROM items i": Join({"i": "items"}, weight=lambda rows: rows["i"]["q"]),
    "SELECT COUNT(*) FROM orders o JOIN items i ON o.id = i.oid": Join({"o": "orders", "i": "items"}, [OI]),
    "SELECT COUNT(*) FROM customers c JOIN orders o ON c.id = o.cid JOIN items i ON i.oid = o.id WHERE q > 0": Join(
        {"c": "customers", "o": "orders", "i": "items"}, [CO, OI], where=lambda rows: rows["i"]["q"] > 0
    ),
    "SELECT COUNT(*) FROM items a JOIN items b ON a.oid = b.oid": Join(
        {"a": "items", "b": "items"}, [(("a", "oid"), ("b", "oid"))]
    ),
    "SELECT COUNT(*) FROM orders o JOIN kinds k ON o.kind = k.kind": Join(
        {"o": "orders", "k": "kinds"}, [(("o", "kind"), ("k", "kind"))]
    ),
    "SELECT COUNT(*) FROM orders a JOIN orders b ON a.cid = b.cid AND a.id < b.id": Join(
        {"a": "orders", "b": "orders"},
        [(("a", "cid"), ("b", "cid"))],
        where=lambda rows: (
            None not in (rows["a"]["id"], rows["b"]["id"]) and rows["a"]["id"] < rows["b"]["id"]
        ),
    ),
}
LEFT_JOINS = {
    "SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON o.cid = c.id": LeftJoin(
        Join({"c": "customers"}), [("o", "orders", lambda rows: _same(rows["o"]["cid"], rows["c"]["id"]))]
    ),
    "SELECT COUNT(*) FROM orders o RIGHT JOIN customers c ON cid = c.id AND amount > 0 WHERE cid IS NULL": LeftJoin(
        Join({"c": "customers"}),
        [("o", "orders", lambda rows: _same(rows["o"]["cid"], rows["c"]["id"]) and (rows["o"]["amount"] or 0) > 0)],
        where=lambda rows: rows["o"]["cid"] is None,
    ),
    "SELECT SUM(COALESCE(q, 2)) FROM orders o LEFT JOIN items i ON i.oid = o.id": LeftJoin(
        Join({"o": "orders"}),
        [("i", "items", lambda rows: _same(rows["i"]["oid"], rows["o"]["id"]))],
        weight=lambda rows: 2 if rows["i"]["q"] is None else rows["i"]["q"],
    ),
    "SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON c.id = o.cid LEFT JOIN items i ON i.oid = o.id": LeftJoin(
        Join({"c": "customers"}),
        [
            ("o", "orders", lambda rows: _same(rows["o"]["cid"], rows["c"]["id"])),
            ("i", "items", lambda rows: _same(rows["i"]["oid"], rows["o"]["id"])),
        ],
    ),
    "SELECT COUNT(*) FROM orders o LEFT JOIN kinds k ON o.kind = k.kind": LeftJoin(
        Join({"o": "orders"}), [("k", "kinds", lambda rows: rows["k"]["kind"] == rows["o"]["kind"])]
    ),
    "SELECT COUNT(*) FROM orders a LEFT JOIN orders b ON a.cid = b.cid AND a.id < b.id": LeftJoin(
        Join({"a": "orders"}),
        [("b", "orders", lambda rows: _same(rows["a"]["cid"], rows["b"]["cid"])
          and None not in (rows["a"]["id"], rows["b"]["id"]) and rows["a"]["id"] < rows["b"]["id"])],
    ),
}  # fmt: skip
# A join, the value of a joined row, and what an owner with such values adds, if it has a row at all.
SUB_SELECTS: dict[str, tuple[Join, Callable[[Any], Any], Callable[[list[Any]], int]]] = {
    "SELECT SUM(n) FROM (SELECT cid, COUNT(*) AS n FROM orders GROUP BY cid) t": (
        Join({"o": "orders"}), lambda rows: 1, len
    ),
    "SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM orders GROUP BY cid) t WHERE n > 1": (
        Join({"o": "orders"}), lambda rows: 1, lambda values: len(values) > 1
    ),
    "SELECT SUM(s) FROM (SELECT o.cid, SUM(q) AS s FROM items i JOIN orders o ON i.oid = o.id GROUP BY 1) t": (
        Join({"o": "orders", "i": "items"}, [OI]), lambda rows: rows["i"]["q"], sum
    ),
    "SELECT SUM(m) FROM (SELECT cid, MIN(amount) AS m FROM orders GROUP BY cid) t": (
        Join({"o": "orders"}),
        lambda rows: rows["o"]["amount"],
        lambda values: min((value for value in values if value is not None), default=0),
    ),
    "SELECT SUM(m) FROM (SELECT cid, MAX(n) AS m FROM (SELECT cid, kind, COUNT(*) AS n FROM orders GROUP BY cid, kind) "
    "t GROUP BY cid) u": (
        Join({"o": "orders"}), lambda rows: rows["o"]["kind"], lambda values: max(map(values.count, values))
    ),
    "SELECT SUM(COALESCE(n, 3)) FROM customers c LEFT JOIN (SELECT cid, COUNT(*) AS n FROM orders GROUP BY cid) t "
    "ON t.cid = c.id WHERE n IS NOT NULL": (
        Join({"c": "customers", "o": "orders"}, [CO]), lambda rows: 1, len
    ),
}  # fmt: skip
BY_KIND = "SELECT kind, COUNT(*) FROM orders o GROUP BY kind"
GROUPED = (
    "SELECT CASE WHEN n > 1 THEN 'many' ELSE 'one' END, COUNT(*), SUM(n) FROM "
    "(SELECT cid, COUNT(*) AS n FROM orders GROUP BY cid) t GROUP BY 1",
    "SELECT kind, SUM(n) FROM (SELECT cid, kind, COUNT(*) AS n FROM orders GROUP BY cid, kind) t GROUP BY kind",
    "SELECT o.kind, COUNT(*) FROM customers c LEFT JOIN orders o ON c.id = o.cid GROUP BY o.kind",
    "SELECT k.name, COUNT(*) FROM orders o LEFT JOIN kinds k ON o.kind = k.kind AND k.name = 'p' GROUP BY k.name",
    BY_KIND,
    "SELECT kind, SUM(amount), COUNT(*) FROM orders o GROUP BY kind",
    "SELECT city, kind, SUM(q) FROM customers c JOIN orders o ON c.id = o.cid JOIN items i ON i.oid = o.id "
    "GROUP BY city, kind",
)
EPSILON = Fraction(1)
TRUNCATION = Truncation.of(epsilon=EPSILON, most=5)
GRID = TRUNCATION.grid
LIMIT = 3


Database = Mapping[str, list[dict[str, Any]]]
Fill = Callable[[Database], None]


def make_database(seed: int) -> dict[str, list[dict[str, Any]]]:
    """A few rows of every table, with keys that are NULL, dangle or are there twice."""
    source = random.Random(seed)
    return {
        table: [
            {column: source.choice(values) for column, values in columns.items()}
            for _ in range(source.randint(2, 5))
        ]
        for table, columns in COLUMNS.items()
    }


def create_tables() -> str:
    """The statements that make the tables."""
    made = []
    for table, columns in COLUMNS.items():
        kinds = ", ".join(f"{column} {TYPES.get(column, 'VARCHAR')}" for column in columns)
        made.append(f"DROP TABLE IF EXISTS {table}; CREATE TABLE {table} ({kinds})")
    return "; ".join(made)


def fill_tables(database: Database) -> str:
    """The statements that replace all rows."""
    done = []
    for table, rows in database.items():
        done.append(f"DELETE FROM {table}")
        done += [f"INSERT INTO {table} VALUES ({', '.join(map(_write, row.values()))})" for row in rows]
    return "; ".join(done)


def _write(value: Any) -> str:
    return "NULL" if value is None else repr(value)


def _same(a: Any, b: Any) -> bool:
    return a is not None and a == b


def read(engine: Engine, sql: str) -> tuple[Statement, Owners]:
    """A question of one owner per joined row."""
    policy, catalogue = Policy.load(POLICY), engine.catalogue()
    statement = read_statement(sql, policy=policy, catalogue=catalogue, dialect=engine.dialect)
    with engine.snapshot() as snapshot:
        statement = read_public_keys(statement, snapshot)
    owners = find_all_owners(statement.join, policy, catalogue)
    assert len(owners.owners) == 1
    return replace(statement, join=owners.join), owners


def check_definition(engine: Engine, fill: Fill, seed: int) -> None:
    """The engine counts what is defined."""
    database = make_database(seed)
    fill(database)
    with engine.snapshot() as snapshot:
        for sql in (*QUESTIONS, *LEFT_JOINS, *SUB_SELECTS):
            statement, owners = read(engine, sql)
            added = list_added(database, sql)
            (sizes,) = count_sizes(snapshot, statement, owners, [GRID])
            assert list(sizes.above) == [units_above(map(abs, added), limit) for limit in GRID], sql
            positive, negative = [c for c in added if c > 0], [-c for c in added if c < 0]
            clipped = [truncated_sum(positive, limit) - truncated_sum(negative, limit) for limit in GRID]
            assert list(sizes.totals) == clipped, sql


def list_added(database: Database, sql: str) -> list[Any]:
    """What every owner adds, by definition; a joined row that a key which does not hold gives to two is left out."""
    if sql in LEFT_JOINS:
        results = left_joined_results(database, SCHEMA, LEFT_JOINS[sql])
    elif sql in QUESTIONS:
        results = joined_results(database, SCHEMA, QUESTIONS[sql])
    else:
        join, value, made = SUB_SELECTS[sql]
        values: dict[Any, list[Any]] = {}
        for result in joined_results(database, SCHEMA, join, value):
            if len(result.owners) == 1:
                values.setdefault(result.owners, []).append(result.value)
        return [int(made(held)) for held in values.values()]
    return list(contributions([result for result in results if len(result.owners) == 1]).values())


def check_sensitivity(engine: Engine, fill: Fill, seed: int) -> None:
    """One owner less moves the numbers above limits by one at most, and all clipped sums together by the limit.

    And the laws of what is released, limit and number together, differ by at most ε.
    """
    database, questions = make_database(seed), (*QUESTIONS, *LEFT_JOINS, *SUB_SELECTS, *GROUPED)
    fill(database)
    read_once = [read(engine, sql) for sql in questions]
    found = []
    for one in (database, *neighbours(database, SCHEMA).values()):
        fill(one)
        with engine.snapshot() as snapshot:
            found.append([_measured(snapshot, *question) for question in read_once])
    full, *less = found
    for fewer in less:
        for sql, (sizes, sums), (before, sums_before) in zip(questions, full, fewer, strict=True):
            for size, one_less in zip(sizes, before, strict=True):
                moves = {a - b for a, b in zip(size.above, one_less.above, strict=True)}
                assert moves <= {0, 1}, sql
                assert _loss(size, one_less) <= float(EPSILON) + 1e-9, sql
            for measure in range(len(sizes)):
                moved = sum(abs(row[measure] - sums_before[group][measure]) for group, row in sums.items())
                assert moved <= LIMIT * PARTS, sql


@cache
def _loss(one: Sizes, other: Sizes) -> float:
    totals = (*one.totals, *other.totals)
    window = (min(totals) - 2, max(totals) + 2)
    laws = [TRUNCATION.law(sizes.above, sizes.totals, window)[1] for sizes in (one, other)]
    return float(np.max(np.abs(laws[0].log_probabilities - laws[1].log_probabilities)))


def _measured(
    snapshot: Snapshot, statement: Statement, owners: Owners
) -> tuple[list[Sizes], dict[Any, tuple[int, ...]]]:
    measures = len(statement.measures)
    sums = sum_clipped(snapshot, statement, owners, [LIMIT] * measures)
    return count_sizes(snapshot, statement, owners, [GRID] * measures), sums


def check_euclidean(engine: Engine, fill: Fill, seed: int, *, alone: bool = False) -> None:
    """The same for a ρ: sizes in ℓ₂ are those of the definition, and so are clipped vectors up to rounding.

    ``alone``: its neighbours are not looked at.
    """
    database = make_database(seed)
    found = []
    for one in (database, *([] if alone else neighbours(database, SCHEMA).values())):
        fill(one)
        with engine.snapshot() as snapshot:
            found.append([_measured_euclidean(engine, snapshot, sql) for sql in GROUPED])
    # every customer's orders by kind
    sizes, sums = found[0][GROUPED.index(BY_KIND)]
    vectors = _vectors_by_kind(database)
    squares = [sum(x * x for x in vector) for vector in vectors]
    assert list(sizes[0].above) == [units_above(squares, limit**2) for limit in GRID]
    wanted = clipped_totals(
        [[PARTS * x for x in v] for v in vectors] or [(0, 0)], LIMIT * PARTS, clip_euclidean
    )
    got = [sums[group][0] for group in (("x",), ("y",))]
    assert all(0 <= w - g <= len(vectors) for w, g in zip(wanted, got, strict=True))
    full, *less = found
    for fewer in less:
        for sql, (sizes, sums), (before, sums_before) in zip(GROUPED, full, fewer, strict=True):
            for measure, (size, one_less) in enumerate(zip(sizes, before, strict=True)):
                assert {a - b for a, b in zip(size.above, one_less.above, strict=True)} <= {0, 1}, sql
                moved = sum((row[measure] - sums_before[group][measure]) ** 2 for group, row in sums.items())
                assert moved <= (LIMIT * PARTS) ** 2, sql


def _vectors_by_kind(database: Database) -> list[tuple[int, ...]]:
    found: dict[Any, list[int]] = {}
    for place, kind in enumerate(("x", "y")):
        of_kind = Join({"o": "orders"}, where=lambda rows, kind=kind: rows["o"]["kind"] == kind)
        results = [r for r in joined_results(database, SCHEMA, of_kind) if len(r.owners) == 1]
        for unit, total in contributions(results).items():
            found.setdefault(unit, [0, 0])[place] = int(total)
    return [tuple(vector) for vector in found.values()]


def _measured_euclidean(
    engine: Engine, snapshot: Snapshot, sql: str
) -> tuple[list[Sizes], dict[Any, tuple[int, ...]]]:
    statement, owners = read(engine, sql)
    measures = len(statement.measures)
    sums = sum_clipped(snapshot, statement, owners, [LIMIT] * measures, euclidean=True)
    return count_sizes(snapshot, statement, owners, [GRID] * measures, euclidean=True), sums
