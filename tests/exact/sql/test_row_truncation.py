"""Truncation where rows are protected: the exact law of the real code over tiny databases, and what would be wrong."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import duckdb
import numpy as np
import pytest

import sordino as sd
from sordino.engines import connect
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units import plan as planning
from sordino.sql.units.contributions import PARTS, sum_clipped
from sordino.sql.units.row_owners import find_row_owners
from sordino.units import LaplacePerLimit
from tests.backends.row_suite import (
    check_row_groups,
    check_row_loss,
    check_row_totals,
    law_of,
    list_grid,
    measure_rows,
    plan_rows,
)
from tests.backends.unit_suite import create_tables, fill_tables
from tests.oracles.units.contributions import contributions, truncated_flow, units_above
from tests.oracles.units.owners import Join, joined_rows


@pytest.fixture
def shop():
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(create_tables())
    with connect(connection) as engine:
        yield engine, lambda database: connection.execute(fill_tables(database))


@pytest.mark.parametrize("policy", ["plain", "keyed"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_at_a_limit_is_that_of_the_definition(shop, seed, policy):
    check_row_totals(*shop, seed, policy)


@pytest.mark.parametrize("policy", ["plain", "keyed"])
@pytest.mark.parametrize("seed", [1])
def test_one_row_less_changes_the_law_within_epsilon(shop, seed, policy):
    check_row_loss(*shop, seed, policy)


@pytest.mark.parametrize("seed", range(2))
def test_one_row_less_moves_all_groups_within_their_noise(shop, seed):
    check_row_groups(*shop, seed)


# All databases of r(a) and s(a): up to two rows of r and three of s, of two values.
EPSILON = 1.0
ROWS = [
    [rows for size in range(most + 1) for rows in itertools.combinations_with_replacement((0, 1), size)]
    for most in (2, 3)
]
UNIVERSE = list(itertools.product(*ROWS))
OBEYING = [(r, s) for r, s in UNIVERSE if len(set(r)) == len(r)]
RS = "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a"
JOINS = {
    RS: Join({"r": "r", "s": "s"}, [(("r", "a"), ("s", "a"))]),
    "SELECT COUNT(*) FROM r p, r q WHERE p.a = q.a": Join({"p": "r", "q": "r"}, [(("p", "a"), ("q", "a"))]),
    "SELECT COUNT(*) FROM r p, r q, s WHERE p.a = s.a AND q.a <= s.a": Join(
        {"p": "r", "q": "r", "s": "s"},
        [(("p", "a"), ("s", "a"))],
        where=lambda rows: rows["q"]["a"] <= rows["s"]["a"],
    ),
}


def near(universe):
    """One row more or less of one table."""
    known = set(universe)

    def neighbours(database):
        found = []
        for place, rows in enumerate(database):
            for gone in sorted(set(rows)):
                fewer = list(rows)
                fewer.remove(gone)
                found.append((tuple(fewer), place))
            found += [(tuple(sorted((*rows, value))), place) for value in (0, 1)]
        others = [
            tuple(changed if i == place else rows for i, rows in enumerate(database))
            for changed, place in found
        ]
        return [other for other in others if other in known]

    return neighbours


def as_tables(database):
    return {name: [{"a": a} for a in rows] for name, rows in zip("rs", database, strict=True)}


@cache
def measured(sql, keyed=False, weights=(1, 1), most=4):
    """Plan, and per database the answers and totals that DuckDB and the flows give."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE r (a BIGINT); CREATE TABLE s (a BIGINT)")
    tables = {"r": {"weight": weights[0]}, "s": {"weight": weights[1]}}
    if keyed:
        tables["r"]["key"] = {"columns": ["a"], "enforced": True}
    policy = {"version": 1, "dataset": "tiny", "protects": "row", "tables": tables}
    with pytest.MonkeyPatch.context() as patch, sd.connect(connection, policy=policy) as curator:
        patch.setattr(planning, "MOST_ROWS", most)
        plan = curator.plan(sql, AnswerOptions.checked(EPSILON, mechanism="truncation"))
        found = {}
        for database in OBEYING if keyed else UNIVERSE:
            fill = "DELETE FROM r; DELETE FROM s"
            for name, rows in zip("rs", database, strict=True):
                if rows:
                    fill += f"; INSERT INTO {name} VALUES {', '.join(f'({a})' for a in rows)}"
            connection.execute(fill)
            with curator.data.engine.snapshot() as snapshot:
                found[database] = measure_rows(plan, snapshot)
    return plan, found


def joint_law(plan, found):
    def law(database):
        outcomes, stated = law_of(plan, *found[database])
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error, outcomes=outcomes)

    return law


def prove(plan, found, epsilon=EPSILON):
    universe = list(found)
    return sd.audit.prove(joint_law(plan, found), universe, near(universe), epsilon)


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("sql", JOINS)
def test_limit_and_number_together_cost_epsilon_and_are_those_of_the_definition(sql, keyed):
    plan, found = measured(sql, keyed)
    proof = prove(plan, found)
    assert proof.holds, str(proof)
    assert proof.worst_epsilon > 0.4
    for database in list(found)[::4]:
        results = joined_rows(as_tables(database), JOINS[sql])
        for limit, total in zip(list_grid(plan), found[database][1], strict=True):
            assert abs(total - (truncated_flow(results, limit) if results else 0)) < 1e-6


def test_a_row_of_a_weight_costs_that_many_times_epsilon():
    plan, found = measured(RS, False, ("1/2", 2))
    law, neighbours = joint_law(plan, found), near(UNIVERSE)
    for database in UNIVERSE[::2]:
        for other in neighbours(database):
            spent = np.max(np.abs(law(database).log_probabilities - law(other).log_probabilities))
            assert spent <= (0.5 if database[0] != other[0] else 2.0) * EPSILON + 1e-9


# Mutants.


def test_capping_pairs_of_rows_is_refused():
    """A row that meets several rows has as many caps."""
    plan, found = measured(RS, False)
    capped = {
        database: (
            answers,
            [sum(min(r.weight, limit) for r in _results(database)) for limit in list_grid(plan)],
        )
        for database, (answers, _) in found.items()
    }
    assert not prove(plan, capped).holds


def _results(database, sql=RS):
    return joined_rows(as_tables(database), JOINS[sql])


def test_classes_of_equal_rows_have_as_many_limits_as_rows():
    """A class of d equal rows as one owner: d limits are the definition, one is too few, d + 1 are refused."""
    plan, found = measured(RS, False)

    def with_classes(capacity):
        return {
            database: (answers, [_share_classes(database, limit, capacity) for limit in list_grid(plan)])
            for database, (answers, _) in found.items()
        }

    right = with_classes(lambda size, limit: size * limit)
    assert all(right[database][1] == totals for database, (_, totals) in found.items())
    small = with_classes(lambda size, limit: limit)
    assert all(a <= b for d in found for a, b in zip(small[d][1], right[d][1], strict=True))
    assert prove(plan, small).holds
    assert not prove(plan, with_classes(lambda size, limit: size * limit + limit)).holds


def _share_classes(database, limit, capacity):
    """The classes of r and of s with value a share what both have: a programme of one unknown for each value."""
    counts = [Counter(rows) for rows in database]
    return Fraction(
        sum(
            min(counts[0][a] * counts[1][a], capacity(counts[0][a], limit), capacity(counts[1][a], limit))
            for a in (0, 1)
            if counts[0][a] and counts[1][a]
        )
    )


def test_the_number_of_rows_above_a_limit_is_refused():
    """Which serves one owner: here a row of s lifts all rows of r that it meets."""
    plan, _ = measured(RS, False)
    choice = plan.parts[0].flow.truncation.choice
    choice = replace(choice, spread=1, epsilon=Fraction(1))
    databases = [((0,) * 5, (0,) * n) for n in range(4)]
    above = {
        database: [
            units_above(contributions(_results(database)).values(), limit) for limit in list_grid(plan)
        ]
        for database in databases
    }

    def law(database):
        stated = choice.law(above[database])
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error)

    def one_less_or_more(database):
        place = databases.index(database)
        return [databases[i] for i in (place - 1, place + 1) if 0 <= i < len(databases)]

    assert not sd.audit.prove(law, databases, one_less_or_more, 1.0).holds


def test_a_key_that_is_not_enforced_makes_no_row_an_inner_one():
    """Rows of s that meet two rows of r, of which only r's are limited."""
    inner, found = measured(RS, True)
    assert [owner.entity.table for owner in inner.owners.owners] == ["r"]
    wrong = {}
    for database in UNIVERSE:
        added = Counter(database[1])
        sizes = [added[a] for a in database[0] if added[a]]
        wrong[database] = (
            [units_above(sizes, limit) for limit in list_grid(inner)],
            [Fraction(sum(min(size, limit) for size in sizes)) for limit in list_grid(inner)],
        )
    assert all(wrong[database] == found[database] for database in OBEYING)
    assert not prove(inner, wrong).holds


def test_a_table_that_stands_there_twice_has_no_inner_rows(shop):
    """Orders of one customer, each the other's next: inside one customer here and inside another there."""
    engine, _ = shop
    sql = (
        "SELECT COUNT(*) FROM customers c JOIN orders a ON c.id = a.cid JOIN orders b ON b.id = a.amount "
        "JOIN customers d ON d.id = b.cid"
    )
    owners = find_row_owners(plan_rows(engine, sql, "keyed").statement)
    assert [owner.key.table for owner in owners.owners] == ["c", "a", "b", "d"]
    assert not owners.nested


def test_rows_without_a_key_are_rows_of_their_own(shop):
    """Two orders whose key is NULL are no one owner, part of which could go and turn its vector."""
    engine, fill = shop
    plan = plan_rows(engine, "SELECT COUNT(*) FROM orders o JOIN kinds k ON o.kind = k.kind", "keyed")
    order = {"id": None, "cid": 1, "amount": 1, "kind": "x"}
    fill({"customers": [], "orders": [order, order], "items": [], "kinds": [{"kind": "x", "name": "p"}] * 3})
    with engine.snapshot() as snapshot:
        _, totals = measure_rows(plan, snapshot)
    assert totals == [min(3, limit) * 2 for limit in list_grid(plan)]


def test_a_clipped_vector_turns_by_two_limits(shop):
    """One order of kind x with many items beside one of kind y: without it the customer's vector points elsewhere."""
    engine, fill = shop
    plan = plan_rows(
        engine,
        "SELECT kind, COUNT(*) FROM customers c JOIN orders o ON c.id = o.cid JOIN items i ON i.oid = o.id "
        "GROUP BY kind",
        "keyed",
    )
    full = {
        "customers": [{"id": 1, "city": "a"}],
        "orders": [
            {"id": 1, "cid": 1, "amount": 1, "kind": "x"},
            {"id": 2, "cid": 1, "amount": 1, "kind": "y"},
        ],
        "items": [{"oid": 1, "q": 1}] * 60 + [{"oid": 2, "q": 1}] * 2,
        "kinds": [],
    }
    sums = []
    for database in (full, {**full, "orders": full["orders"][1:]}):
        fill(database)
        with engine.snapshot() as snapshot:
            sums.append(sum_clipped(snapshot, plan.statement, plan.owners, [2]))
    moved = sum(abs(sums[0][group][0] - sums[1][group][0]) for group in sums[0])
    assert 1.9 * 2 * PARTS < moved <= 2 * 2 * PARTS  # so noise for one limit would be too little
    noise = plan.parts[0].noises[0].truncation.noise
    assert noise == LaplacePerLimit(Fraction(3, 8))
