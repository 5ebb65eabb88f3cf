"""All groups of an answer together lose what is claimed, on PostgreSQL."""

from __future__ import annotations

import pytest

from tests.backends.group_suite import (
    DAYS,
    check_day,
    check_groups,
    check_spellings,
    create_tables,
    fill_tables,
    write_questions,
)

QUESTIONS = 40


@pytest.fixture
def groups(postgresql_backend):
    engine, owner = postgresql_backend.load({}), postgresql_backend.owner
    owner.execute(create_tables())
    return engine, lambda database: owner.execute(fill_tables(database))


@pytest.mark.parametrize("seed", [200, 201])
def test_random_groups_together_lose_no_more_than_epsilon(groups, seed):
    tally = check_groups(*groups, write_questions(seed, QUESTIONS), seed=seed)
    assert not tally.wrong, tally.report()
    assert tally.planned > 0.7 * QUESTIONS, f"the writer asks too little that is answered: {tally.refused}"
    assert tally.parallel > 0.6 * tally.planned, "hardly any question claims parallel composition any more"
    assert tally.moved > 0.3 * tally.pairs, "most rows that change belong to no group: nothing is compared"


@pytest.mark.parametrize(("kind", "held"), [("CHAR(8)", "Rome"), ("VARCHAR(8)", "Rome "), ("NAME", "Rome ")])
def test_a_constant_that_padding_takes_for_the_key_is_noised_with_it(postgresql_backend, kind, held):
    engine, owner = postgresql_backend.load({}), postgresql_backend.owner
    owner.execute(create_tables(kind))
    tally = check_spellings(engine, lambda database: owner.execute(fill_tables(database)), "Rome ", held=held)
    assert not tally.wrong, tally.report()
    assert tally.parallel == tally.planned
    assert tally.moved


@pytest.mark.parametrize("written", DAYS)
def test_a_day_is_written_in_one_way_or_refused(groups, written):
    tally = check_day(*groups, written)
    assert not tally.wrong, tally.report()
