"""What owners add, as DuckDB counts it: equal to the definition, and moved by one owner no more than is said."""

from __future__ import annotations

import duckdb
import pytest

from sordino.engines import connect
from tests.backends.unit_suite import (
    check_definition,
    check_euclidean,
    check_sensitivity,
    create_tables,
    fill_tables,
)
from tests.backends.uuid_suite import CREATE, FILL, check_uuids


@pytest.fixture
def shop():
    connection = duckdb.connect()
    connection.execute(create_tables())
    with connect(connection) as engine:
        yield engine, lambda database: connection.execute(fill_tables(database))


@pytest.mark.parametrize("seed", range(12))
def test_the_engine_counts_what_is_defined(shop, seed):
    check_definition(*shop, seed)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4))])
def test_one_owner_moves_the_answers_within_the_limit(shop, seed):
    check_sensitivity(*shop, seed)


def test_uuids_are_keys():
    connection = duckdb.connect(config={"threads": 1})
    for statement in (CREATE, *FILL):
        connection.execute(statement)
    with connect(connection) as engine:
        check_uuids(engine)


@pytest.mark.parametrize("seed", range(3))
def test_one_owner_moves_the_answers_within_the_limit_of_a_rho(shop, seed):
    check_euclidean(*shop, seed)
