"""What owners add, as PostgreSQL counts it."""

from __future__ import annotations

import pytest

from sordino.curator import Curator
from sordino.sql.policy import Policy
from tests.backends.distinct_suite import check_loss, check_values
from tests.backends.null_group_suite import check_null_groups
from tests.backends.rank_suite import check_rank_loss, check_weights
from tests.backends.row_suite import check_row_groups, check_row_loss, check_row_totals
from tests.backends.series_suite import TABLES, check_series
from tests.backends.unit_suite import (
    check_definition,
    check_euclidean,
    check_sensitivity,
    create_tables,
    fill_tables,
)
from tests.backends.uuid_suite import CREATE, FILL, check_uuids


@pytest.fixture
def shop(postgresql_backend):
    engine, owner = postgresql_backend.load({}), postgresql_backend.owner
    owner.execute(create_tables())
    return engine, lambda database: owner.execute(fill_tables(database))


@pytest.mark.parametrize("seed", range(4))
def test_the_engine_counts_what_is_defined(shop, seed):
    check_definition(*shop, seed)


@pytest.mark.parametrize("seed", range(2))
def test_one_owner_moves_the_answers_within_the_limit(shop, seed):
    check_sensitivity(*shop, seed)


def test_values_are_shared_out_as_defined(shop):
    check_values(*shop, 1)


def test_one_owner_less_changes_the_law_of_values_within_epsilon(shop):
    check_loss(*shop, 1)


def test_owners_weigh_what_is_defined(shop):
    check_weights(*shop, 2)


def test_one_owner_less_changes_the_law_of_ranks_within_epsilon(shop):
    check_rank_loss(*shop, 1)


def test_uuids_are_keys(postgresql_backend):
    engine, owner = postgresql_backend.load({}), postgresql_backend.owner
    for statement in (CREATE, *FILL):
        owner.execute(statement)
    check_uuids(engine)


@pytest.mark.parametrize("odd", ["infinity", "-infinity", "0044-03-15 BC", "294000-01-01"])
def test_a_date_that_cannot_be_fetched_is_in_no_group(postgresql_backend, odd):
    engine, owner = postgresql_backend.load({}), postgresql_backend.owner
    owner.execute("CREATE TABLE u (id int); CREATE TABLE o (uid int, d date)")
    owner.execute("INSERT INTO u SELECT generate_series(1, 50); INSERT INTO o SELECT id, '2020-01-01' FROM u")
    owner.execute(f"INSERT INTO o VALUES (1, '{odd}')")
    tables = {"u": {}, "o": {"foreign_keys": {"uid": "u.id"}}}
    budgets = {"ann": {"epsilon": 100, "delta": 0.1}}
    policy = Policy.load(
        {
            "version": 1,
            "dataset": "odd",
            "protects": "user",
            "users": "u.id",
            "tables": tables,
            "budgets": budgets,
        }
    )
    with Curator(engine, policy, None, owned=False) as curator:
        asked = "SELECT d, COUNT(*) AS n FROM o GROUP BY d"
        (row,) = curator.session("ann").query(asked, epsilon=100, delta=1e-2).value
    assert row["d"] == "2020-01-01"


def test_one_owner_moves_the_answers_within_the_limit_of_a_rho(shop):
    check_euclidean(*shop, 1)


@pytest.mark.parametrize("policy", ["plain", "keyed"])
def test_what_is_left_of_rows_at_a_limit_is_that_of_the_definition(shop, policy):
    check_row_totals(*shop, 1, policy)


def test_one_row_less_changes_the_law_within_epsilon(shop):
    check_row_loss(*shop, 2, "plain")


def test_one_row_less_moves_all_groups_within_their_noise(shop):
    check_row_groups(*shop, 2)


def test_a_series_counts_every_interval_once(postgresql_backend):
    check_series(postgresql_backend.load(TABLES))


def test_a_series_is_in_utc_whatever_the_database_says(postgresql_backend):
    """And what is before or after all days is in no interval."""
    owner = postgresql_backend.owner
    owner.execute("SET TimeZone = 'UTC'")
    for setting, value in (("TimeZone", "America/St_Johns"), ("DateStyle", "German, DMY")):
        owner.execute(f"ALTER DATABASE {owner.info.dbname} SET {setting} = '{value}'")
    engine = postgresql_backend.load(TABLES)
    for odd in ("infinity", "-infinity", "0044-03-15 BC", "294000-01-01"):
        owner.execute(f"INSERT INTO visits VALUES ('{odd}', '{odd}', '{odd}', 4)")
    check_series(engine)


def test_groups_may_all_be_null(postgresql_backend):
    check_null_groups(postgresql_backend)
