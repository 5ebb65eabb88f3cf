"""Bounds of joins on PostgreSQL."""

from __future__ import annotations

from tests.backends.sql_bounds import check_bounds_on


def test_bounds_equal_those_of_the_embedded_engine(postgresql_backend):
    check_bounds_on(postgresql_backend.load)
