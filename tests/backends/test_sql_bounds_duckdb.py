"""Bounds of joins on DuckDB, in tables of an open connection."""

from __future__ import annotations

from tests.backends.sql_bounds import check_bounds_on


def test_bounds_equal_those_of_the_embedded_engine(duckdb_backend):
    check_bounds_on(duckdb_backend.load)
