"""Sub-selects with a group for each owner: what is refused, what one owner may add, and what would be wrong.

That engines count what is defined, and that one owner moves it no further than the limit, is in
`tests.backends.unit_suite`.
"""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pyarrow as pa
import pytest
import sqlglot

import sordino as sd
from sordino.core import ParameterError, UnsupportedError
from sordino.engines import connect
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.policy import ColumnName, Policy
from sordino.sql.reading.read import read_statement
from sordino.sql.units.contributions import PARTS, sum_clipped
from sordino.sql.units.grouped_rows import find_all_owners
from sordino.sql.units.owners import find_owners
from sordino.sql.units.unit_noise import KnownLimit, SearchedLimit
from tests.backends.unit_suite import LIMIT, POLICY, SCHEMA, create_tables, fill_tables
from tests.oracles.units.owners import remove_unit

PER_OWNER = "(SELECT cid, COUNT(*) AS n FROM orders GROUP BY cid) t"


@pytest.fixture
def shop():
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(create_tables())
    with sd.connect(connection, policy=f"{POLICY}budgets: {{ann: {{epsilon: 9, delta: 0.1}}}}") as curator:
        yield connection, curator


def test_an_owner_has_one_row(shop):
    plan = shop[1].plan(f"SELECT AVG(n) AS mean FROM {PER_OWNER}", AnswerOptions.checked(1, 0))
    total, count = plan.noises
    assert isinstance(count, KnownLimit)
    assert count.limit == 1
    assert isinstance(total, SearchedLimit)
    assert total.grid[0] == 1
    assert total.grid[-1] >= 10**6  # rows of one owner, where the policy does not say
    several = "(SELECT cid, kind, COUNT(*) AS n FROM orders GROUP BY cid, kind) t"
    plan = shop[1].plan(f"SELECT COUNT(*) AS rows FROM {several}", AnswerOptions.checked(1, 0))
    assert isinstance(plan.noises[0], SearchedLimit)


def test_numbers_of_owners_can_be_groups_that_nobody_declared(shop):
    connection, curator = shop
    rows = [{"id": i, "cid": i % 200, "amount": 1, "kind": "x"} for i in range(400)]
    connection.execute(
        fill_tables({"customers": [{"id": i, "city": "a"} for i in range(200)], "orders": rows})
    )
    release = curator.session("ann").query(
        f"SELECT n, COUNT(*) AS owners FROM {PER_OWNER} GROUP BY n", epsilon=2, delta=1e-6
    )
    assert [row["n"] for row in release.value] == [2]


@pytest.mark.parametrize(
    ("sql", "error", "match"),
    [
        ("SELECT AVG(n) FROM (SELECT kind, COUNT(*) AS n FROM orders GROUP BY kind) t", UnsupportedError,
         "column 60: GROUP BY inside a sub-select must name the owner of its rows, customers.id"),
        ("SELECT AVG(n) FROM (SELECT oid, COUNT(*) AS n FROM items GROUP BY oid) t", UnsupportedError, "must name"),
        ("SELECT AVG(n) FROM (SELECT cid, COUNT(*) AS n FROM orders GROUP BY cid HAVING COUNT(*) > 1) t",
         UnsupportedError, "filter its rows in the outer query"),
        ("SELECT AVG(n) FROM (SELECT cid, AVG(q) AS n FROM orders JOIN items ON id = oid GROUP BY cid) t",
         UnsupportedError, "COUNT, SUM, MIN and MAX"),
        ("SELECT AVG(n) FROM (SELECT cid, COUNT(*) + 1 AS n FROM orders GROUP BY cid) t", UnsupportedError, "MAX"),
        ("SELECT AVG(n) FROM (SELECT cid, COUNT(*) FROM orders GROUP BY cid) t", UnsupportedError, "give it a name"),
        ("SELECT AVG(n) FROM (SELECT cid, kind, COUNT(*) AS n FROM orders GROUP BY cid) t", UnsupportedError, "not in"),
        ("SELECT SUM(m) FROM (SELECT cid, MAX(kind) AS m FROM orders GROUP BY cid) t", UnsupportedError, "order of"),
        ("SELECT SUM(m) FROM (SELECT cid, MAX(id) AS m FROM orders GROUP BY cid) t", ParameterError, "public bounds"),
        ("SELECT COUNT(*) FROM (SELECT cid, COUNT(*) AS n FROM orders GROUP BY cid ORDER BY n LIMIT 1) t",
         UnsupportedError, "ORDER|LIMIT"),
    ],
)  # fmt: skip
def test_what_does_not_belong_to_one_owner_is_refused(shop, sql, error, match):
    with pytest.raises(error, match=match) as refused:
        shop[1].plan(sql, AnswerOptions.checked(1, 0))
    assert "line 1, column" in str(refused.value)


def test_rows_have_no_sub_selects_with_groups():
    with (
        sd.connect(
            {"t": pa.table({"a": [1]})}, policy={"version": 1, "dataset": "d", "tables": {"t": {}}}
        ) as curator,
        pytest.raises(UnsupportedError, match="where users are protected"),
    ):
        curator.plan(
            "SELECT AVG(n) FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) u", AnswerOptions.checked(1, 0)
        )


def test_a_group_of_several_owners_would_move_more_than_the_limit(shop):
    """The mutant: groups of kinds, each taken for a row of the least owner in it."""
    connection, _ = shop
    rows = [{"id": i, "cid": 1, "amount": 1, "kind": kind} for i, kind in enumerate("abcdefgh")]
    rows += [{"id": 20 + i, "cid": 2 + i, "amount": 1, "kind": kind} for i, kind in enumerate("abcdefgh")]
    full = {
        "customers": [{"id": i, "city": "a"} for i in range(1, 10)],
        "orders": rows,
        "items": [],
        "kinds": [],
    }
    sql = "SELECT SUM(n) FROM (SELECT kind, MAX(cid) AS last, COUNT(*) AS n FROM orders GROUP BY kind) t"
    policy = Policy.load(POLICY)
    with connect(connection) as engine:
        catalogue = engine.catalogue()
        statement = read_statement(sql, policy=policy, catalogue=catalogue, dialect="duckdb")
        with pytest.raises(UnsupportedError, match="must name the owner"):
            find_all_owners(statement.join, policy, catalogue)
        (rows_of,) = statement.join.occurrences
        written = sqlglot.parse_one(
            "SELECT kind, MAX(cid) AS last, COUNT(*) AS n FROM orders GROUP BY kind", dialect="duckdb"
        )
        join = replace(statement.join, occurrences=(replace(rows_of, rows=written),))
        owners = find_owners(join, policy, catalogue, {"t": [(ColumnName("customers", "id"), "last")]})
        statement, sums = replace(statement, join=join), []
        for database in (full, remove_unit(full, SCHEMA, ("customers", 1))):
            connection.execute(fill_tables(database))
            with engine.snapshot() as snapshot:
                sums.append(sum_clipped(snapshot, statement, owners, [LIMIT])[()][0])
    assert abs(sums[0] - sums[1]) > LIMIT * PARTS
