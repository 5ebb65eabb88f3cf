"""Columns of every type, NULLs and repeats: no row of any tiny database changes more than the solver's limit."""

from __future__ import annotations

import random

import duckdb
import pytest

import sordino as sd
from sordino.core import SordinoError
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.solver import limits, read_query, read_schema, translation
from sordino.sql.solver.query import list_tables
from sordino.sql.solver.search import search_sensitivity
from tests.oracles.question_cases import TYPES, make_counted, make_join, make_tables
from tests.oracles.relations import AllDatabases

from .witnesses import replay

OPTIONS = AnswerOptions.checked(1.0, 0.0)
EACH = 7


def look(kind, seed, *, filled, each=EACH):
    """(limit, what a row changes at most, question) of random questions over all databases of two tables."""
    rng = random.Random(f"{kind} {seed}")
    tables = make_tables(rng, kind, filled=filled)
    databases = AllDatabases(tables)
    promises = {
        table.name: {"key": {"columns": list(table.key), "enforced": True}} if table.key else {}
        for table in tables
    }
    if 1 not in tables[1].values[1]:
        promises["s"]["check"] = ["k >= 0", "k <= 0"]
    policy = {"version": 1, "dataset": "tiny", "tables": promises}
    connection = duckdb.connect()
    for table in tables:
        rule = " NOT NULL" if filled else ""
        columns = ", ".join(f"{c} {t}{rule}" for c, t in zip(table.columns, table.kinds(), strict=True))
        connection.execute(f"CREATE TABLE {table.name} ({columns})")
    with sd.connect(connection, policy=policy) as curator:
        for _ in range(each):
            source, counted = make_join(rng, kind), make_counted(rng, kind)
            join = curator.plan(f"SELECT COUNT(*) FROM {source}", OPTIONS).statement.join
            for table, limit in limits.find_join_limits(join).items():
                yield limit, databases.sensitivity(f"SELECT p0.id FROM {source}", table), source
            try:
                plan = curator.plan(f"SELECT COUNT(*) FROM ({counted})", OPTIONS)
            except SordinoError:
                continue
            for table, one in limits.find_count_limits(plan.statement.counted).items():
                yield one.at_most, databases.sensitivity(counted, table), counted


@pytest.fixture(autouse=True)
def _hurried(monkeypatch):
    """What is not found out with little work is left out, on a busy machine as on others."""
    monkeypatch.setattr(limits, "JOIN_UNITS", 2_000_000)
    monkeypatch.setattr(limits, "COUNT_UNITS", 3_000_000)
    monkeypatch.setattr(limits, "_remembered", {})


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_no_row_changes_more_than_the_limit(kind, filled):
    found = [case for seed in range(2) for case in look(kind, seed, filled=filled)]
    for limit, number, sql in found:
        assert number <= limit, sql
    assert len(found) > EACH
    assert any(limit == number > 0 for limit, number, _ in found)


@pytest.mark.parametrize("kind", ["VARCHAR", "DECIMAL(4, 1)"])
def test_columns_that_are_taken_for_filled_are_caught(kind, monkeypatch):
    monkeypatch.setattr(translation.Translator, "_is_filled", lambda self, first, column: True)
    assert any(number > limit for seed in range(9) for limit, number, _ in look(kind, seed, filled=False))


@pytest.mark.parametrize("kind", ["VARCHAR", "BOOLEAN", "DATE", "DECIMAL(4, 1)"])
def test_numbers_of_texts_hold_and_are_attained(kind):
    """The same of queries by themselves: no number is below that of all tiny databases, and witnesses attain it."""
    rng = random.Random(kind)
    exact = 0
    for _ in range(3):
        tables = make_tables(rng, kind, filled=True)
        databases = AllDatabases(tables)
        schema = "; ".join(table.create() for table in tables)
        if 1 not in tables[1].values[1]:
            schema = schema.replace("k INTEGER NOT NULL", "k INTEGER NOT NULL CHECK (k BETWEEN 0 AND 0)")
        shapes = read_schema(schema)
        for _ in range(16):
            sql = rng.choice((f"SELECT p1.id FROM {make_join(rng, kind)}", make_counted(rng, kind)))
            try:
                query = read_query(sql, shapes)
            except SordinoError:
                continue
            for table in list_tables(query):
                found = search_sensitivity(query, shapes, table, cap=8, seconds=300, units=3_000_000)
                if found.at_most is not None:
                    assert databases.sensitivity(sql, table) <= found.at_most, sql
                if found.witness is not None:
                    attained = replay(schema, sql, found.witness)
                    assert attained >= found.at_least, sql
                    assert found.value is None or attained == found.value, sql
                exact += found.value is not None
    assert exact > 12
