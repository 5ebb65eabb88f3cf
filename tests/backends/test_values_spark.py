"""Questions about values on Spark: the same numbers and bounds as on DuckDB, on ordinary and on odd rows."""

from __future__ import annotations

import pytest

from tests.backends.odd_values import (
    QUESTIONS,
    check_category_groups,
    check_odd_rows,
    check_rows_that_come_and_go,
    check_universe,
)


def test_odd_rows_raise_nowhere_and_engines_agree(spark_backend):
    # Spark plans statements of a hundred thousand characters for minutes: the shortest of them
    check_odd_rows(spark_backend, (QUESTIONS[1], QUESTIONS[3], QUESTIONS[4]))


@pytest.mark.parametrize("name", ["join"])
def test_all_pairs_of_databases_keep_both_inequalities(spark_backend, name):
    check_universe(spark_backend, name)


def test_rows_that_come_and_go(spark_backend):
    check_rows_that_come_and_go(spark_backend)


def test_groups_by_a_category(spark_backend):
    check_category_groups(spark_backend)
