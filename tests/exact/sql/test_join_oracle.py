"""The oracle of join queries against an SQL engine, and its fast walk against the walk by definition."""

from __future__ import annotations

import sqlite3
from collections import Counter

import numpy as np
import pytest

from tests.oracles.joins import (
    And,
    Column,
    Compare,
    JoinQuery,
    Table,
    TensorQuery,
    check_bounds,
    check_smooth_bound,
    local_sensitivity_by_walk,
    neighbours,
    rows_of,
)
from tests.oracles.sql_cases import random_database, random_query


def engine_answer(query, database):
    connection = sqlite3.connect(":memory:")
    for table in query.tables:
        connection.execute(f"CREATE TABLE {table.name} ({', '.join(table.columns)})")
        marks = ", ".join("?" * len(table.columns))
        rows = list(database[table.name].elements())
        connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)
    answer = connection.execute(query.sql()).fetchone()[0]
    connection.close()
    return answer


def test_answers_equal_those_of_an_engine_and_of_the_tensor():
    rng = np.random.default_rng(1)
    for _ in range(400):
        query = random_query(rng)
        database = random_database(rng, query, most_rows=4)
        compiled = TensorQuery(query)
        expected = engine_answer(query, database)
        assert query.answer(database) == expected, query.sql()
        assert compiled.answers(database, compiled.vector(database)[None])[0] == expected, query.sql()


def test_fast_local_sensitivity_equals_the_walk_by_definition():
    rng = np.random.default_rng(2)
    seen = 0
    while seen < 25:
        query = random_query(rng, most_occurrences=2, weights=seen % 2 == 0)
        database = random_database(rng, query, most_rows=2)
        compiled = TensorQuery(query)
        if compiled.coordinates > 9 or sum(rows.total() for rows in database.values()) > 6:
            continue
        most = 2 if compiled.coordinates <= 4 else 1
        walked = local_sensitivity_by_walk(query, database, most)
        fast = compiled.local_sensitivity(database, most)
        assert fast[None].tolist() == pytest.approx(walked), query.sql()
        per_table = [fast[table.name] for table in query.private]
        assert np.max(per_table, axis=0).tolist() == fast[None].tolist()
        seen += 1


def test_the_generator_reaches_every_kind_of_query():
    rng = np.random.default_rng(3)
    queries = [random_query(rng) for _ in range(600)]
    assert {len(q.occurrences) for q in queries} == {1, 2, 3, 4}
    assert any(len(q.copies(q.tables[0].name)) == 3 for q in queries)
    assert any(not t.private for q in queries for t in q.tables)
    assert any(None in t.values for q in queries for t in q.tables)
    text = " ".join(q.sql() for q in queries)
    for piece in (" OR ", "NOT (", "IS NULL", " < ", " <= ", " <> ", "SUM(", "COUNT(t", "1 = 1", "= 1)"):
        assert piece in text, piece


R = Table("R", ("a",), (0, 1, 2))
SELF_JOIN = JoinQuery(
    (R,), (("x", "R"), ("y", "R")), And((Compare("=", Column("x", "a"), Column("y", "a")),))
)


def test_neighbours_add_every_row_of_the_domain_and_remove_every_present_one():
    database = {"R": Counter({(0,): 2})}
    reached = [y["R"] for _, y in neighbours(SELF_JOIN, database)]
    added = [Counter({(0,): 2}) + Counter([row]) for row in rows_of(R)]
    assert sorted(map(str, reached)) == sorted(map(str, [*added, Counter({(0,): 1})]))


def test_a_self_join_of_n_equal_rows_changes_by_2n_plus_1():
    compiled = TensorQuery(SELF_JOIN)
    assert compiled.local_sensitivity({"R": Counter({(0,): 5})}, 2)[None].tolist() == [11, 13, 15]


def test_the_checkers_refuse_what_is_too_small_or_not_smooth():
    databases = [{"R": Counter({(0,): n})} for n in range(4)]

    def exact(database):
        top = max(database["R"].values(), default=0)
        return [2 * (top + k) + 1 for k in range(4)]

    def parity(database):
        return [v + 5 * (database["R"].total() % 2) for v in exact(database)]

    assert check_bounds(exact, SELF_JOIN, databases) == []
    assert check_bounds(lambda x: [v - 1 for v in exact(x)], SELF_JOIN, databases)
    assert any("B_1(x)" in problem for problem in check_bounds(parity, SELF_JOIN, databases))
    beta = 0.5

    def smooth(x):
        return max(np.exp(-beta * k) * (exact(x)[0] + 2 * k) for k in range(20))

    assert check_smooth_bound(smooth, SELF_JOIN, databases, beta) == []
    assert check_smooth_bound(lambda x: 0.9 * smooth(x), SELF_JOIN, databases, beta)
    assert check_smooth_bound(lambda x: exact(x)[0], SELF_JOIN, databases, beta)
