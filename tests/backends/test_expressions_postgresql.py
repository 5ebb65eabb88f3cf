"""Functions in expressions are those of Python, on PostgreSQL."""

from __future__ import annotations

import pytest

from .expression_suite import CASES, check_expressions, tables


@pytest.mark.parametrize("name", CASES)
def test_groups_are_those_of_python(postgresql_backend, name):
    check_expressions(postgresql_backend.load(tables()), name)
