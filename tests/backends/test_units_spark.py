"""What owners add, as Spark counts it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sordino.engines import connect
from tests.backends.distinct_suite import check_loss, check_values
from tests.backends.null_group_suite import check_null_groups
from tests.backends.rank_suite import check_weights
from tests.backends.row_suite import check_row_totals
from tests.backends.series_suite import TABLES, check_series
from tests.backends.unit_suite import COLUMNS, TYPES, check_definition, check_euclidean, check_sensitivity


@pytest.fixture
def shop(spark, tmp_path):
    """Views over files, which every database writes anew under names of its own."""
    filled = []

    def fill(database):
        for table, rows in database.items():
            kinds = {column: pa.int32() if column in TYPES else pa.string() for column in COLUMNS[table]}
            columns = {
                column: pa.array([row[column] for row in rows], kind) for column, kind in kinds.items()
            }
            file = tmp_path / f"{table}{len(filled)}.parquet"
            pq.write_table(pa.table(columns), file)
            spark.read.parquet(str(file)).createOrReplaceTempView(table)
        filled.append(database)

    fill({table: [] for table in COLUMNS})
    yield connect(spark), fill
    for table in COLUMNS:
        spark.catalog.dropTempView(table)


def test_the_engine_counts_what_is_defined(shop):
    check_definition(*shop, 3)


def test_one_owner_moves_the_answers_within_the_limit(shop):
    check_sensitivity(*shop, 5)


def test_values_are_shared_out_as_defined(shop):
    check_values(*shop, 1)


def test_one_owner_less_changes_the_law_of_values_within_epsilon(shop):
    check_loss(*shop, 1)


def test_owners_weigh_what_is_defined(shop):
    check_weights(*shop, 2)


def test_the_engine_clips_for_a_rho_as_defined(shop):
    check_euclidean(*shop, 1, alone=True)


@pytest.mark.parametrize("policy", ["plain", "keyed"])
def test_what_is_left_of_rows_at_a_limit_is_that_of_the_definition(shop, policy):
    check_row_totals(*shop, 1, policy)


def test_a_series_counts_every_interval_once(spark_backend):
    check_series(spark_backend.load(TABLES))


def test_groups_may_all_be_null(spark_backend):
    check_null_groups(spark_backend)
