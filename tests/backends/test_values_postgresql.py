"""Questions about values on PostgreSQL: the same numbers and bounds as on DuckDB, on ordinary and on odd rows."""

from __future__ import annotations

import pytest

from tests.backends.odd_values import (
    check_category_groups,
    check_odd_rows,
    check_rows_that_come_and_go,
    check_universe,
)


def test_odd_rows_raise_nowhere_and_engines_agree(postgresql_backend):
    check_odd_rows(postgresql_backend)


@pytest.mark.parametrize("name", ["join", "distance of ships"])
def test_all_pairs_of_databases_keep_both_inequalities(postgresql_backend, name):
    check_universe(postgresql_backend, name)


def test_rows_that_come_and_go(postgresql_backend):
    check_rows_that_come_and_go(postgresql_backend)


def test_groups_by_a_category(postgresql_backend):
    check_category_groups(postgresql_backend)
