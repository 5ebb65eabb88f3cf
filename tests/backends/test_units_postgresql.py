"""What owners add, as PostgreSQL counts it."""

from __future__ import annotations

import pytest

from tests.backends.distinct_suite import check_loss, check_values
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
