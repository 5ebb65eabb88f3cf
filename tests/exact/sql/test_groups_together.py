"""All groups of an answer together lose what is claimed: each group's noise is a function of that group's rows alone.

`tests.backends.group_suite` says what is checked, and how; here on DuckDB, with the cases that were once wrong by name
and two controls. A class of equal cells with two constants, a group's own and one of WHERE or of another key, was
restricted by the first of them: every group had the noise scale of one and the same group's rows, while all took the
whole of epsilon.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import duckdb
import pytest

from sordino.curator import connect
from sordino.engines import connect as open_engine
from sordino.sql.analysis import all_groups
from sordino.sql.analysis.closure import EqualCells, NormalForm
from sordino.sql.analysis.formula import read_number_literal
from sordino.sql.answering.plan import AnswerOptions
from tests.backends.group_suite import (
    BEYOND,
    COLUMNS,
    DAYS,
    Change,
    check_day,
    check_groups,
    check_spellings,
    compare_neighbours,
    create_tables,
    fill_tables,
    is_parallel,
    literal,
    policy_of,
    write_questions,
)

QUESTIONS = 40


@pytest.fixture
def groups():
    """An engine, and what fills its tables."""
    with duckdb.connect(config={"threads": 1}) as owner:
        owner.execute(create_tables())
        yield open_engine(owner), lambda database: owner.execute(fill_tables(database))


# --- random questions


@pytest.mark.parametrize("seed", range(5))
def test_random_groups_together_lose_no_more_than_epsilon(groups, seed):
    tally = check_groups(*groups, write_questions(seed, QUESTIONS), seed=seed)
    assert not tally.wrong, tally.report()
    assert tally.planned > 0.7 * QUESTIONS, f"the writer asks too little that is answered: {tally.refused}"
    assert tally.parallel > 0.6 * tally.planned, "hardly any question claims parallel composition any more"
    assert tally.moved > 0.3 * tally.pairs, "most rows that change belong to no group: nothing is compared"
    assert tally.worst > 0.5, "no pair comes near what is claimed"


def test_random_groups_together_lose_no_more_than_the_weight_of_a_row(groups):
    tally = check_groups(*groups, write_questions(100, 12), seed=100, weights={"q": "2"})
    assert not tally.wrong, tally.report()
    assert tally.parallel > 0.6 * tally.planned


# --- the cases that were once wrong

MANY = {
    "s": ["Rome", *(f"city{i}" for i in range(7))],
    "i": [BEYOND, *range(-6, 0)],
    "j": [7, *range(-6, 0)],
    "b": [True, False],
    "c": [True, False],
    "d": [date(2024, 1, 31) + timedelta(days) for days in range(8)],
}
# What is tied and where it is restricted, per kind; booleans need two columns to have enough groups.
NAMED = {
    "text": ("s",),
    "integer": ("j",),
    "integer beyond 32 bits": ("i",),
    "boolean": ("b", "c"),
    "date": ("d",),
}
SHAPES = ("where", "where on the other side", "two keys")


def named_question(kind, shape):
    """The text, where the first value of every domain is the constant."""
    columns = NAMED[kind]
    ties = " AND ".join(f"a.{name} = b.{name}" for name in columns)
    keys = [f"a.{name}" for name in columns]
    side = "b" if shape == "where on the other side" else "a"
    wanted = " AND ".join(f"{side}.{name} = {literal(MANY[name][0])}" for name in columns)
    if shape == "two keys":
        keys += [f"b.{name}" for name in columns]
    where = "" if shape == "two keys" else f" WHERE {wanted}"
    listed = ", ".join(keys)
    return f"SELECT {listed}, COUNT(*) AS n FROM r AS a JOIN q AS b ON {ties}{where} GROUP BY {listed}"


def named_row(place):
    """A row that holds the value at this place of every domain."""
    return tuple(MANY[name][place % len(MANY[name])] if name in MANY else None for name in COLUMNS)


def check_named(groups, kind, shape):
    """Eight rows of the constant's group and one of another, in either table; one row of either group more."""
    engine, fill = groups
    text = named_question(kind, shape)
    database = {"r": (named_row(1),), "q": (named_row(0),) * 8 + (named_row(1),), "p": ()}
    changes = [Change(table, named_row(place), added=True) for table in ("r", "q") for place in (0, 1)]
    fill(database)
    with connect(engine, policy=policy_of(domains=MANY)) as curator:
        plan = curator.plan(text, AnswerOptions.checked(1, 0))
    return plan, compare_neighbours(engine, fill, {text: plan}, database, {text: changes})


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", NAMED)
def test_a_constant_beside_the_key_keeps_other_groups_apart(groups, kind, shape):
    plan, tally = check_named(groups, kind, shape)
    assert is_parallel(plan)
    assert not tally.wrong, tally.report()
    assert tally.moved


@pytest.mark.parametrize(
    ("kind", "other"),
    [("VARCHAR COLLATE NOCASE", "rome"), ("VARCHAR COLLATE NOACCENT", "Romé"), ("TEXT", "Rome ")],
)
def test_a_constant_that_a_collation_takes_for_the_key_is_noised_with_it(kind, other):
    with duckdb.connect(config={"threads": 1}) as owner:
        owner.execute(create_tables(kind))
        tally = check_spellings(
            open_engine(owner), lambda database: owner.execute(fill_tables(database)), other
        )
    assert not tally.wrong, tally.report()
    assert tally.parallel == tally.planned
    assert tally.moved


@pytest.mark.parametrize("written", DAYS)
def test_a_day_is_written_in_one_way_or_refused(groups, written):
    tally = check_day(*groups, written)
    assert not tally.wrong, tally.report()


# --- controls that must fail


def restrict_by_the_first_constant(patch):
    """The closure as it was."""
    whole = NormalForm.restricted

    def restricted(form, positions, names=None):
        first = tuple(replace(equals, constants=equals.constants[:1]) for equals in form.classes)
        return whole(replace(form, classes=first), positions, names)

    def contradictory(equals):
        return len({number for c in equals.constants if (number := read_number_literal(c)) is not None}) > 1

    patch.setattr(NormalForm, "restricted", restricted)
    patch.setattr(EqualCells, "contradictory", property(contradictory))


def trust_all_bounds(patch):
    """No look at whether a group's counts ask for the group's keys."""
    patch.setattr(all_groups, "is_confined", lambda *_: True)


def test_random_questions_find_the_closure_that_takes_the_first_constant_alone(groups, monkeypatch):
    restrict_by_the_first_constant(monkeypatch)
    trust_all_bounds(monkeypatch)
    tally = check_groups(*groups, write_questions(0, QUESTIONS // 2), seed=0)
    assert any(finding.loses_too_much for finding in tally.wrong)
    assert any(finding.leaves_its_group for finding in tally.wrong)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["text", "boolean", "date"])
def test_named_cases_find_the_closure_that_takes_the_first_constant_alone(groups, monkeypatch, kind, shape):
    restrict_by_the_first_constant(monkeypatch)
    trust_all_bounds(monkeypatch)
    plan, tally = check_named(groups, kind, shape)
    assert is_parallel(plan)
    assert any(finding.loses_too_much and finding.leaves_its_group for finding in tally.wrong), tally.worst


def test_a_closure_that_takes_the_first_constant_alone_claims_less(groups, monkeypatch):
    """The second line: parallel composition is claimed only where the counts that are sent ask for the keys."""
    restrict_by_the_first_constant(monkeypatch)
    plan, tally = check_named(groups, "text", "where")
    assert not is_parallel(plan)
    assert not tally.wrong, tally.report()
