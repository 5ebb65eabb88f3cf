"""COUNT(DISTINCT x) where users are protected, as DuckDB reads it, and what would be wrong."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from sordino.engines import connect
from sordino.units import FlowTruncation
from tests.backends.distinct_suite import SELF, check_loss, check_values, plan_distinct
from tests.backends.unit_suite import SCHEMA, create_tables, fill_tables
from tests.oracles.units.owners import remove_unit


@pytest.fixture
def shop():
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(create_tables())
    with connect(connection) as engine:
        yield engine, lambda database: connection.execute(fill_tables(database))


@pytest.mark.parametrize("seed", range(8))
def test_values_are_shared_out_as_defined(shop, seed):
    check_values(*shop, seed)


@pytest.mark.parametrize("seed", range(3))
def test_one_owner_changes_the_law_within_epsilon(shop, seed):
    check_loss(*shop, seed)


def test_an_owner_that_is_counted_and_shares_keeps_its_limit(shop):
    """Two customers, each counted by a row of the other: whoever goes takes both values along."""
    engine, fill = shop
    full = {
        "customers": [{"id": 1, "city": "a"}, {"id": 2, "city": "a"}],
        "orders": [
            {"id": 1, "cid": 1, "amount": 2, "kind": "x"},
            {"id": 2, "cid": 2, "amount": 1, "kind": "x"},
        ],
        "items": [],
        "kinds": [],
    }
    totals = {}
    for name, database in {"full": full, "less": remove_unit(full, SCHEMA, ("customers", 1))}.items():
        fill(database)
        statement, owners, part = plan_distinct(engine, f"SELECT COUNT(DISTINCT a.cid) {SELF}")
        assert part.sharers == (0, 1)
        one = FlowTruncation.of(epsilon=1, most=4, owners=1, distinct=True)
        for kind, asked in {"right": part, "wrong": replace(part, sharers=(1,), flow=one)}.items():
            with engine.snapshot() as snapshot:
                held = asked.read(snapshot, statement, owners)
            measures = asked.flow.measure(asked.flow.gather(held.owners, None, held.values))
            totals[name, kind] = measures.totals[asked.flow.grid.index(1)]
    assert totals["full", "right"] - totals["less", "right"] <= 1
    assert totals["full", "wrong"] - totals["less", "wrong"] == 2  # beyond the limit of 1
