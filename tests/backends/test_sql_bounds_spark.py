"""Bounds of joins on Spark."""

from __future__ import annotations

from tests.backends.sql_bounds import check_bounds_on


def test_bounds_equal_those_of_the_embedded_engine(spark_backend):
    # A statement takes Spark half a second, however small the tables.
    check_bounds_on(spark_backend.load, names=["two tables", "a chain and a sum"], analyses=("patterns",))
