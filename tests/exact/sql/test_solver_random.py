"""Five hundred random queries of all shapes: the solver's numbers are those of all databases on two values."""

from __future__ import annotations

import random
from functools import cache

import pytest

from sordino.sql.solver.enumeration import enumerate_databases
from sordino.sql.solver.parsing import read_query
from sordino.sql.solver.query import GroupedLeaf, JoinLeaf, keep_used, list_tables
from sordino.sql.solver.schema import read_schema
from sordino.sql.solver.search import search_sensitivity
from sordino.sql.solver.sets import ChangedMembers
from sordino.sql.solver.z3_solver import solve
from tests.oracles.query_cases import REPEATED, TABLES, make_cases
from tests.oracles.relations import VALUES, AllDatabases

from .witnesses import replay

CASES = make_cases(20, rows=170, distinct=150, trees=130, grouped=60)
BATCH = 17


@cache
def databases() -> AllDatabases:
    return AllDatabases(TABLES)


def keys_of(sql: str) -> int:
    return sql.rpartition("GROUP BY")[2].count(",") + 1


def truth(shape: str, sql: str, table: str) -> int:
    if shape == "grouped":
        return databases().changed_groups(sql, table, keys_of(sql))
    return databases().sensitivity(sql, table)


def test_there_are_enough_cases_of_every_shape():
    assert len(CASES) >= 500
    assert {shape for shape, _ in CASES} == {"rows", "distinct", "tree", "grouped"}
    joined_with_itself = [sql for _, sql in CASES if any(sql.count(f" {t.name} p") > 1 for t in TABLES)]
    assert len(joined_with_itself) > 100


@pytest.mark.parametrize("start", range(0, len(CASES), BATCH))
def test_the_number_is_that_of_all_databases_and_is_attained(start):
    schema = databases().schema
    shapes = read_schema(schema)
    for place, (shape, sql) in enumerate(CASES[start : start + BATCH], start):
        query = read_query(sql, shapes)
        table = random.Random(place).choice(list_tables(query))
        found = search_sensitivity(query, shapes, table, cap=64, seconds=300, values=VALUES)
        assert found.value == truth(shape, sql, table), sql
        if found.value:
            groups = keys_of(sql) if shape == "grouped" else 0
            assert replay(schema, sql, found.witness, groups=groups) == found.value, sql


def test_the_enumerator_without_a_solver_finds_the_same():
    shapes = read_schema(databases().schema)
    for shape, sql in CASES[::40]:
        query = read_query(sql, shapes)
        table = list_tables(query)[0]
        witness = enumerate_databases(query, shapes, table, VALUES)
        assert witness.number == truth(shape, sql, table), sql
        groups = keys_of(sql) if shape == "grouped" else 0
        assert replay(databases().schema, sql, witness, groups=groups) == witness.number


def test_columns_that_nobody_names_change_nothing():
    shapes = read_schema(databases().schema)
    for shape, sql in CASES[::20]:
        query = read_query(sql, shapes)
        table = list_tables(query)[0]
        kept = keep_used(query, shapes)
        found = search_sensitivity(query, kept, table, cap=64, seconds=300, values=VALUES)
        assert found.value == truth(shape, sql, table), sql


def test_the_formula_of_trees_holds_for_single_selects_too():
    """`ChangedMembers` covers what the shorter formula does."""
    shapes = read_schema(databases().schema)
    chosen = [sql for shape, sql in CASES if shape == "distinct"][::10]
    for sql in chosen:
        query = read_query(sql, shapes)
        assert isinstance(query, JoinLeaf)
        table = query.tables[0]
        number = truth("distinct", sql, table)
        members = ChangedMembers(query, table, shapes, VALUES)
        verdicts = [
            solve(members.encode(n).script.text(), seconds=300).verdict
            for n in range(1, min(number + 1, members.most) + 1)
        ]
        assert verdicts == ["sat"] * number + ["unsat"] * (len(verdicts) - number), sql


def test_satisfiable_numbers_have_no_gaps_and_copies_add_up_to_no_less():
    shapes = read_schema(databases().schema)
    for shape, sql in CASES[::25]:
        query = read_query(sql, shapes)
        for table in list_tables(query):
            exact = search_sensitivity(query, shapes, table, cap=64, seconds=300, values=VALUES)
            added = search_sensitivity(query, shapes, table, cap=64, seconds=300, copies="sum", values=VALUES)
            assert added.at_most >= exact.value, sql
            if shape == "tree" and exact.value and not isinstance(query, GroupedLeaf):
                members = ChangedMembers(query, table, shapes, VALUES)
                assert all(
                    solve(members.encode(n).script.text(), seconds=300).verdict == "sat"
                    for n in range(1, exact.value + 1)
                )


@cache
def repeated() -> AllDatabases:
    return AllDatabases(REPEATED)


def test_rows_that_may_be_there_several_times():
    """Of a table without a key: what is a number is that of all databases with up to three such rows, and attained."""
    cases = make_cases(21, rows=60, distinct=40, trees=20, grouped=20, tables=REPEATED)
    shapes = read_schema(repeated().schema)
    unbounded = multiset = 0
    for shape, sql in cases:
        query = read_query(sql, shapes)
        groups = keys_of(sql) if shape == "grouped" else 0
        for table in list_tables(query):
            found = search_sensitivity(query, shapes, table, cap=64, seconds=300, values=VALUES)
            every = repeated()
            number = every.changed_groups(sql, table, groups) if groups else every.sensitivity(sql, table)
            multiset += "m" in list_tables(query)
            if found.value != 0:
                attained = replay(repeated().schema, sql, found.witness, groups=groups)
                assert attained >= found.at_least if found.unbounded else attained == found.value, sql
            if found.unbounded:
                unbounded += 1
                assert number > 0, sql
            else:
                assert number == found.value, sql
    assert multiset > 50
    assert unbounded > 5


def test_numbers_over_all_integers_hold_and_are_attained():
    """Without a domain: no number is below that of two values, and those without bound have as many rows as asked."""
    schema = databases().schema
    shapes = read_schema(schema)
    exact = unbounded = 0
    for shape, sql in CASES[::4]:
        query = read_query(sql, shapes)
        table = list_tables(query)[-1]
        found = search_sensitivity(query, shapes, table, cap=16, seconds=5)
        if found.at_most is not None:
            assert found.at_most >= truth(shape, sql, table), sql
        exact += found.value is not None
        unbounded += found.unbounded
        if found.witness is not None:
            groups = keys_of(sql) if shape == "grouped" else 0
            attained = replay(schema, sql, found.witness, groups=groups)
            assert attained >= found.at_least, sql
            assert found.value is None or attained == found.value, sql
    assert exact > 40
    assert unbounded > 20
