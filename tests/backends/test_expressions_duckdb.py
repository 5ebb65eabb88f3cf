"""Functions in expressions are those of Python, on DuckDB."""

from __future__ import annotations

import pytest

from .expression_suite import CASES, check_expressions, tables


@pytest.mark.parametrize("name", CASES)
def test_groups_are_those_of_python(duckdb_backend, name):
    check_expressions(duckdb_backend.load(tables()), name)
